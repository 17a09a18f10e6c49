/** One `test` for three runtimes: `Deno.test` with its sanitizers on, `node:test` elsewhere. */
import process from "node:process";
import { after, test as nodeTest } from "node:test";

/** A runtime that runs the tests. */
export type TestRuntime = "deno" | "node" | "bun";

/** Options of a test. */
export interface TestOptions {
  /** Why it cannot run here; `undefined` if it can. */
  readonly skip?: string | undefined;
  /**
   * Whether only `deno task test:all` runs it, as it takes seconds for one more case of what
   * another test shows; or, as it takes minutes, only `FW_TEST=full deno task test`.
   */
  readonly slow?: boolean | "long" | undefined;
}

/** Registers a test. */
export type Test = (name: string, body: Body, options?: TestOptions) => void;

type Body = () => void | Promise<void>;

/** The variable that is `all` where slow tests run too, and `full` where long ones do. */
export const SCOPE = "FW_TEST";

/** Why a slow test is left out. */
export const SLOW = "slow: deno task test:all runs it";

/** Why a long test is left out. */
export const LONG = "long: FW_TEST=full deno task test runs it";

const scope = process.env[SCOPE];

/** Whether slow tests run, long ones or not. */
export const IS_ALL = scope === "all" || scope === "full";

/** After these, a test fails: one that waits for ever would hide its name, and all others. */
export const MAX_TEST_MS = (scope === "full" ? 120 : 20) * 60_000;

/** Registers a test on each runtime. The name of a skipped test ends with the reason, in brackets. */
export function test(
  name: string,
  body: Body,
  { skip, slow = false }: TestOptions = {},
): void {
  const reason = skip ?? whyLeftOut(slow);
  const title = reason === undefined ? name : `${name} [${reason}]`;
  const fn = () => inTime(body);
  if (!("Deno" in globalThis)) return void nodeTest(title, { skip: reason !== undefined }, fn);
  Deno.test({
    name: title,
    fn,
    ignore: reason !== undefined,
    sanitizeOps: true,
    sanitizeResources: true,
  });
}

/** Returns how many cases a slow test tries: all in the scope `full`, else a part. */
export function casesOf(full: number, part = full / 5): number {
  return scope === "full" ? full : part;
}

/** Registers what runs after the last test of the file. */
export function afterFile(run: () => void | Promise<void>): void {
  if ("Deno" in globalThis) Deno.test.afterAll(run);
  else after(run);
}

function whyLeftOut(slow: TestOptions["slow"]): string | undefined {
  if (!slow || scope === "full") return undefined;
  if (slow === "long") return LONG;
  return IS_ALL ? undefined : SLOW;
}

async function inTime(body: Body): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    const error = new Error(`it has not ended in ${MAX_TEST_MS} ms`);
    timer = setTimeout(() => reject(error), MAX_TEST_MS);
  });
  try {
    await Promise.race([body(), over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Makes a `test` for what needs one of some runtimes: on the others its tests are skipped. */
export function testOn(runtimes: readonly TestRuntime[], why: string): Test {
  if (runtimes.includes(current())) return test;
  const skip = `needs ${runtimes.join(" or ")}: ${why}`;
  return (name, body) => test(name, body, { skip });
}

/** Registers a test on one runtime: what it checks more often does not depend on the runtime. */
export const testOnce: Test = testOn(["deno"], "one runtime is enough");

function current(): TestRuntime {
  if ("Deno" in globalThis) return "deno";
  return "Bun" in globalThis ? "bun" : "node";
}
