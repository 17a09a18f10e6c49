import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import type { Context, Next } from "hono";
import { bodyLimit, controller, FwFactory, module, route } from "../../mod.ts";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { RawClient } from "../runtime/raw_client.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test, testOn } from "../support/test.ts";

const MIB = 1024 * 1024;
/** The longest wait for a response over HTTP/2. */
const MAX_WAIT_MS = 60_000;

/** Its routes run after middleware that has read the body, except `/unread`. */
class BodiesController extends controller() {
  text = route.post("/text", length);
  large = route.post("/large", { bodyLimit: 3 * MIB }, length);
  small = route.post("/small", { bodyLimit: 10 }, length);
  remove = route.delete("/text", length);
  get = route.get("/text", length);
  webhook = route.post("/webhooks/shop", length);
  unread = route.get("/unread", () => "unread");
}

async function length(_: unknown, c: Context) {
  return { length: (await c.req.text()).length };
}

const CASES: readonly (readonly [request: string, bytes: number, status: number])[] = [
  ["POST /text", MIB, 200],
  ["POST /text", 2 * MIB, 413],
  ["DELETE /text", 2 * MIB, 413],
  ["POST /missing", 2 * MIB, 413], // it is middleware that reads it
  ["POST /large", 2 * MIB, 200],
  ["POST /large", 4 * MIB, 413],
  ["POST /small", 11, 413],
  ["POST /webhooks/shop", 4 * MIB, 200],
  ["POST /webhooks/shop", 6 * MIB, 413],
];

for (const framing of ["a Content-Length", "chunks"]) {
  test(`the body limit applies to middleware that reads a body with ${framing}`, () =>
    serving(async (server) => {
      for (const [request, bytes, status] of CASES) {
        using client = await RawClient.connect(server);
        send(client, { request, bytes, isChunked: framing === "chunks" });
        const [, got] = await client.until(/^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n[^]*\}/);
        assert.equal(Number(got), status, `${request} of ${bytes} bytes: ${client.received}`);
        if (status === 200) assert.match(client.received, new RegExp(`"length":${bytes}\\}`));
        else assert.match(client.received, /^content-type: application\/problem\+json\r$/im);
      }
    }));
}

test("an application answers the request of another, whose body it limits again", async () => {
  await using inner = await FwFactory.create(module({ controllers: [BodiesController] }));
  await using outer = await FwFactory.create(module({}));
  outer.use("/text", (c) => inner.fetch(c.req.raw) as Promise<Response>);
  const body = "x".repeat(1000);
  const headers = { "content-length": "1000" };
  const response = await outer.request("/text", { method: "POST", headers, body });
  assert.deepEqual(await response.json(), { length: 1000 });
});

test("the body limit applies to GET", () =>
  serving(async (server) => {
    for (const [bytes, status] of [[MIB, 200], [MIB + 1, 413]] as const) {
      using client = await RawClient.connect(server);
      send(client, { request: "GET /unread", bytes, isChunked: false });
      const [, got] = await client.until(/^HTTP\/1\.1 (\d+)[^]*?\r\n\r\n/);
      assert.equal(Number(got), status);
    }
  }));

testOn(["deno"], "the others have no HTTP/2")(
  "the body limit applies to HTTP/2, where a body needs no field",
  () =>
    serving(async ({ url }) => {
      for (
        const [method, bytes, status] of [
          ["DELETE", MIB, 200],
          ["DELETE", 2 * MIB, 413],
          ["OPTIONS", 2 * MIB, 413],
          ["POST", 2 * MIB, 413],
        ] as const
      ) {
        const session = connectHttp2(url);
        const closed = once(session, "close");
        const stream = session.request({ ":method": method, ":path": "/text" }, {
          endStream: false,
        });
        stream.on("error", () => {}); // it is reset while the body is sent
        const ended = setTimeout(() => session.destroy(), MAX_WAIT_MS);
        const responded = new Promise<number | undefined>((resolve, reject) => {
          stream.once("response", (headers) => resolve(headers[":status"]));
          stream.once("close", () => reject(new Error(`${method} had no response`)));
        });
        stream.end("x".repeat(bytes));
        assert.equal(await responded, status, `${method} of ${bytes} bytes`);
        clearTimeout(ended);
        // what is left of the body is not sent
        session.destroy();
        await closed;
      }
    }),
);

/** Calls a function with a server whose middleware reads bodies; nothing may be logged as an error. */
async function serving(use: (server: HttpServer) => Promise<void>): Promise<void> {
  await captureLogs(["fw"], async (records) => {
    await using app = await FwFactory.create(module({ controllers: [BodiesController] }));
    app.use("/webhooks/*", async (c, next) => {
      bodyLimit.set(c, 5 * MIB);
      await next();
    });
    app.use(async (c: Context, next: Next) => {
      await c.req.text();
      await next();
    });
    await use(await app.listen(0, { hostname: "127.0.0.1" }));
    assert.deepEqual(records.filter(({ level }) => level === "error"), []);
  });
}

interface Message {
  readonly request: string;
  readonly bytes: number;
  readonly isChunked: boolean;
}

function send(client: RawClient, { request, bytes, isChunked }: Message): void {
  const body = "x".repeat(bytes);
  const head = [`${request} HTTP/1.1`, "Host: x"];
  if (!isChunked) return client.send([...head, `Content-Length: ${bytes}`], body);
  const chunk = `${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  client.send([...head, "Transfer-Encoding: chunked"], chunk);
}
