/** Applications whose `fetch` is exported, and called by the server of the runtime. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { freePort } from "../support/free_port.ts";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { testOn } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const FIXTURE = "tests/runtime/exported_fixture.ts";
const testOnServing = testOn(["deno", "bun"], "Node does not serve an exported fetch");
const testOnDeno = testOn(["deno"], "deno serve is Deno's");

/** Where a server listens. */
type Address = Parameters<typeof RawClient.connect>[0];

/** The response to a request. */
interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends the line and the fields of a request as they are. */
type Call = (line: string, ...fields: readonly string[]) => Promise<Answer>;

async function withExported(body: (call: Call, server: Subprocess) => Promise<void>) {
  const port = await freePort();
  await using server = new Subprocess(FIXTURE, {
    command: "serve",
    permissions: ["-A", "--host=127.0.0.1", `--port=${port}`],
    env: { PORT: String(port) },
  });
  const url = `http://127.0.0.1:${port}`;
  await server.accepts(port);
  await body((line, ...fields) => call({ url, port }, [line, ...fields]), server);
}

async function call(
  server: Address,
  lines: readonly string[],
): Promise<Answer> {
  using client = await RawClient.connect(server);
  const [line = "", ...fields] = lines;
  client.send([line, "Connection: close", ...fields]);
  const [head = "", body = ""] = (await client.end()).split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

testOnServing(
  "an exported fetch refuses a Host that would choose another path",
  () =>
    withExported(async (call) => {
      const { status, body } = await call("GET /hello HTTP/1.1", "Host: a.example:80");
      assert.deepEqual([status, body], [200, '"hello"']);
      for (const host of ["h/admin?", "h/admin#", "u@h", "h:99999", "1.2.3.999", "["]) {
        const answer = await call("GET /hello HTTP/1.1", `Host: ${host}`);
        assert.deepEqual([answer.status, answer.body], [400, ""], host);
      }
      assert.equal((await call("GET /hello HTTP/1.0")).status, 200);
      const dotted = await call("GET /hello/../admin HTTP/1.1", "Host: h");
      assert.equal(dotted.status, RUNTIME === "deno" ? 400 : 200); // Bun resolves it
    }),
);

testOnServing(
  "an exported fetch answers 500 on Deno for a control character in a response header",
  () =>
    withExported(async (call, server) => {
      for (const control of ["%01", "%1f", "%7f"]) {
        const { status, body } = await call(`GET /download?name=${control} HTTP/1.1`, "Host: h");
        const [expected, text] = RUNTIME === "deno"
          ? [500, /Internal Server Error/] as const
          : [200, /file/] as const;
        assert.equal(status, expected);
        assert.match(body, text);
      }
      if (RUNTIME === "deno") await server.until(/content-disposition has a control character/);
      assert.equal((await call("GET /hello HTTP/1.1", "Host: h")).status, 200);
    }),
);

testOnServing(
  "an exported fetch knows the address of a client that sends a body",
  () =>
    withExported(async (call) => {
      const chunked = ["Host: h", "Transfer-Encoding: chunked", "", "1", "x", "0"];
      for (const fields of [["Host: h", "Content-Length: 0"], chunked]) {
        const { status, body } = await call("POST /address HTTP/1.1", ...fields);
        assert.deepEqual([status, body], [200, '"127.0.0.1"'], fields.join());
      }
      assert.equal((await call("POST /address HTTP/1.0")).body, '"127.0.0.1"');
    }),
);

testOnServing(
  "an exported fetch answers HEAD without the length 0",
  () =>
    withExported(async (call) => {
      const { status, head } = await call("HEAD /stream HTTP/1.1", "Host: h");
      assert.equal(status, 200);
      assert.doesNotMatch(head, /^content-length/im);
    }),
);

testOnServing(
  "an exported fetch sends a response with a body once",
  () =>
    withExported(async (call) => {
      for (const [user, expected] of [["ada", 200], ["bob", 500], ["eve", 500]]) {
        const { status, head } = await call(`GET /kept?user=${user} HTTP/1.1`, "Host: h");
        assert.equal(status, expected);
        assert.deepEqual(head.match(/user=\w+/g), [`user=${user}`]);
      }
    }),
);

testOnDeno("deno serve answers on a Unix socket", async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, "app.sock");
  await using server = new Subprocess(FIXTURE, {
    command: "serve",
    env: { DENO_SERVE_ADDRESS: `unix:${path}` },
  });
  const socket = { url: `unix:${path}`, port: 0 };
  await server.accepts(path);
  const { status, body } = await call(socket, ["GET /hello HTTP/1.1", "Host: h"]);
  assert.deepEqual([status, body], [200, '"hello"']);
  assert.equal((await call(socket, ["GET /hello HTTP/1.1", "Host: h/admin?"])).status, 400);
});
