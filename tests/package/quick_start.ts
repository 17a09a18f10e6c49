/**
 * The documented quick start: its text, and a check of its response.
 *
 * @module
 */
import assert from "node:assert/strict";
import { page } from "../support/docs.ts";
import { Subprocess, type SubprocessOptions } from "../support/subprocess.ts";

const PAGE = page("getting-started");
const HEADING = "## Quick start";

/** Its `main.ts`, on a free port. */
export const QUICK_START: string = PAGE.block("ts", HEADING)
  .replace("listenGraceful(3000)", "listenGraceful(0)");

/**
 * Returns the arguments with which it adds the package by a command: `npm install` or `deno add`.
 *
 * @throws {Error} if the page does not have the command
 */
export function addedBy(words: string): readonly string[] {
  const [, added] = new RegExp(`\`${words} ([^\`]+)\``).exec(PAGE.from(HEADING)) ?? [];
  if (!added) throw new Error(`Cannot find ${words} in the quick start`);
  return added.split(/\s+/);
}

/** Runs the `main.ts` of a folder, and asserts the documented response. */
export async function assertQuickStart(options: SubprocessOptions): Promise<void> {
  await using app = new Subprocess("main.ts", options);
  const port = await app.until(/(?<=Listening on http:\/\/localhost:)\d+/);
  const cats = `http://127.0.0.1:${port}/api/v1/cats`;
  const post = (body: string) =>
    fetch(cats, { method: "POST", body, headers: { "content-type": "application/json" } });
  const created = await post('{"name":"Tom","age":3}');
  assert.deepEqual([created.status, await created.json()], [201, { name: "Tom", age: 3 }]);
  assert.deepEqual(await (await fetch(`${cats}/Tom`)).json(), { name: "Tom", age: 3 });
  const document = await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json();
  assert.deepEqual([document.info.title, Object.keys(document.paths)], [
    "Cats",
    ["/api/v1/cats", "/api/v1/cats/{name}"],
  ]);
  assert.match(await (await fetch(`http://127.0.0.1:${port}/docs`)).text(), /swagger-ui/);
  const refused = await post('{"name":"T"}');
  const problem = await refused.json();
  const shown = JSON.parse(PAGE.block("json", HEADING));
  assert.deepEqual({ ...problem, requestId: "" }, { ...shown, requestId: "" });
}
