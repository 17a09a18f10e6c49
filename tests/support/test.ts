/** One `test` for three runtimes: `Deno.test` with its sanitizers on, `node:test` elsewhere. */
import { test as nodeTest } from "node:test";

/** A runtime that runs the tests. */
export type TestRuntime = "deno" | "node" | "bun";

/** Registers a test; `skip` says why it cannot run here. */
export type Test = (name: string, body: Body, options?: { skip?: string | undefined }) => void;

type Body = () => void | Promise<void>;

/** Registers a test on each runtime. The name of one that is skipped ends with the reason, in brackets. */
export function test(name: string, body: Body, { skip }: { skip?: string | undefined } = {}): void {
  const title = skip === undefined ? name : `${name} [${skip}]`;
  if (!("Deno" in globalThis)) return void nodeTest(title, { skip: skip !== undefined }, body);
  Deno.test({
    name: title,
    fn: body,
    ignore: skip !== undefined,
    sanitizeOps: true,
    sanitizeResources: true,
  });
}

/** Makes a `test` for what needs one of some runtimes: on the others its tests are skipped. */
export function testOn(runtimes: readonly TestRuntime[], why: string): Test {
  if (runtimes.includes(current())) return test;
  const skip = `needs ${runtimes.join(" or ")}: ${why}`;
  return (name, body) => test(name, body, { skip });
}

function current(): TestRuntime {
  if ("Deno" in globalThis) return "deno";
  return "Bun" in globalThis ? "bun" : "node";
}
