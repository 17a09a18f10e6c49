/** The context of one request is not that of another: Deno 2.9 passes it on when a module is loaded. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { freePort } from "../support/free_port.ts";
import { Subprocess, type SubprocessOptions } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOn } from "../support/test.ts";

const FIXTURE = "tests/runtime/contexts_fixture.ts";
const test = testOn(["deno"], "the defect is Deno's");

/** Fails transactions that begin in a way while other requests write; none of theirs is lost. */
async function keepsWrites(beginning: string, options: SubprocessOptions): Promise<void> {
  using folder = new TemporaryFolder();
  const port = await freePort();
  await using server = new Subprocess(FIXTURE, {
    ...options,
    permissions: ["-A", ...options.command ? ["--host=127.0.0.1", `--port=${port}`] : []],
    env: { PORT: String(port), DATABASE_URL: `sqlite:${join(folder.path, "notes.db")}` },
  });
  await server.accepts(port);
  const url = `http://127.0.0.1:${port}/notes`;
  const send = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, body === undefined ? { method: "POST" } : init);
    assert.equal(response.status, 200, await response.text());
  };
  const failed = send(`/failures/${beginning}`);
  await server.until(new RegExp(`begun by ${beginning}`));
  await Promise.all(["1", "2", "3"].map((text) => send("", { text })));
  await failed;
  await send("", { text: "4" });
  const notes = await (await fetch(url)).json();
  const texts = notes.map(({ text }: { readonly text: string }) => text).sort();
  assert.deepEqual(texts, ["1", "2", "3", "4"]);
}

test("listen() begins requests in its own context after a transaction has loaded a module", () =>
  keepsWrites("import", { args: ["listen"] }));

test("deno serve begins requests in its own context after a transaction has loaded a module", () =>
  keepsWrites("import", { command: "serve" }));

for (const beginning of ["aggregate", "lock", "createMany"]) {
  test(
    `DbOptions.open() has loaded on Deno what ${beginning} needs, for any server`,
    () => keepsWrites(beginning, { args: ["plain"] }),
    { slow: beginning !== "createMany" },
  );
}
