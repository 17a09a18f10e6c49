/** One `test` for three runtimes: `Deno.test` with its sanitizers on, `node:test` elsewhere. */
import { test as nodeTest } from "node:test";

type Body = () => void | Promise<void>;

export function test(name: string, body: Body, { skip }: { skip?: string | undefined } = {}): void {
  if (!("Deno" in globalThis)) return void nodeTest(name, skip ? { skip } : {}, body);
  Deno.test({
    name,
    fn: body,
    ignore: skip !== undefined,
    sanitizeOps: true,
    sanitizeResources: true,
  });
}
