import { Hono } from "hono";
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { serve } from "../../src/runtime/listen.ts";
import { upgradeWebSocket } from "../../src/runtime/websocket/websocket.ts";
import { test, testOn } from "../support/test.ts";
import { RawClient, UPGRADE } from "./raw_client.ts";

const orderTest = testOn(["deno", "node"], "Bun may end a connection that pipelines");
const nodeTest = testOn(["node"], "only there requests of a connection are handled at once");

const LOCAL = { port: 0, hostname: "127.0.0.1" };
const CHUNK = new Uint8Array(64 * 1024);
const MAX_BUFFERED = 32 * 1024 * 1024;
const TOTAL = 4 * MAX_BUFFERED;

test("serve() stops reading a response stream when buffers are full and the client does not read", async () => {
  let produced = 0;
  const cancelled = Promise.withResolvers<void>();
  const large = () =>
    new ReadableStream({
      pull(controller) {
        produced += CHUNK.length;
        controller.enqueue(CHUNK);
        if (produced >= TOTAL) controller.close();
      },
      cancel: () => cancelled.resolve(),
    });
  await using server = await serve(() => new Response(large()), LOCAL);
  using client = await RawClient.connect(server);
  client.socket.pause();
  client.send(["GET / HTTP/1.1", "Host: localhost"]);

  const buffered = await settled(() => produced);
  assert.ok(buffered > 0 && buffered < MAX_BUFFERED, `${buffered} bytes`);
  client.socket.destroy();
  await cancelled.promise;
});

test("serve() stops receiving a request when buffers are full and the handler does not read", async () => {
  const readOn = Promise.withResolvers<void>();
  await using server = await serve(async ({ body }) => {
    await readOn.promise;
    let length = 0;
    for await (const chunk of body!) length += chunk.length;
    return new Response(`${length} bytes`);
  }, LOCAL);
  using client = await RawClient.connect(server);
  client.send(["POST / HTTP/1.1", "Host: localhost", `Content-Length: ${TOTAL}`]);
  let sent = 0;
  const upload = (async () => {
    while (sent < TOTAL) {
      await new Promise((resolve) => client.socket.write(CHUNK, resolve));
      sent += CHUNK.length;
    }
  })();

  const buffered = await settled(() => sent);
  assert.ok(buffered > 0 && buffered < MAX_BUFFERED, `${buffered} bytes`);
  readOn.resolve();
  await upload;
  await client.until(new RegExp(`${TOTAL} bytes`));
});

test("serve() stops handling pipelined requests whose responses the client does not read", async () => {
  let handled = 0;
  await using server = await serve(async () => {
    handled++;
    await delay(0);
    return new Response("x".repeat(100_000));
  }, LOCAL);
  using client = await RawClient.connect(server);
  client.socket.pause();
  const batch = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2_000);
  for (let i = 0; i < 20; i++) client.socket.write(batch);
  const count = await settled(() => handled);
  assert.ok(count < 400, `${count} requests`);
});

orderTest("serve() answers any number of pipelined requests in their order", async () => {
  await using server = await serve(async (request) => {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    if (pathname === "/slow") await delay(20);
    return new Response(`${pathname} ${text.length}.`);
  }, LOCAL);
  using client = await RawClient.connect(server);
  const body = "x".repeat(300_000);
  for (let round = 0; round < 5; round++) {
    const lines = (path: string) => [`GET ${path} HTTP/1.1`, "Host: x"];
    for (let i = 0; i < 20; i++) client.send(lines(i % 2 ? "/slow" : "/fast"));
    client.send(["POST /upload HTTP/1.1", "Host: x", `Content-Length: ${body.length}`], body);
  }
  client.send(["GET /last HTTP/1.1", "Host: x"]);
  await client.until(/\/last 0\./);
  const answers = client.received.match(/\/\w+ \d+(?=\.)/g);
  const round = [...Array(10).fill(["/fast 0", "/slow 0"]).flat(), `/upload ${body.length}`];
  assert.deepEqual(answers, [...Array(5).fill(round).flat(), "/last 0"]);
});

test("serve() aborts the requests of a client that pipelines and leaves", async () => {
  const arrived = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  let handled = 0;
  let aborted = 0;
  await using server = await serve(({ signal }) => {
    if (++handled === 1) arrived.resolve();
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        if (++aborted === handled) left.resolve();
        reject(signal.reason);
      })
    );
  }, LOCAL);
  using client = await RawClient.connect(server);
  client.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(50));
  await arrived.promise;
  client.socket.destroy();
  await left.promise;
});

nodeTest("serve() closes a connection on which over 256 requests wait", async () => {
  let handled = 0;
  const never = new Promise<Response>(() => {});
  await using server = await serve(() => {
    handled++;
    return never;
  }, LOCAL);
  using client = await RawClient.connect(server);
  const closed = new Promise((resolve) => client.socket.once("close", resolve));
  client.socket.on("error", () => {});
  client.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(8 + 256 + 1));
  await closed;
  assert.equal(handled, 8);
});

nodeTest("serve() refuses an upgrade behind requests that are not answered", async () => {
  const app = new Hono()
    .get("/slow", async (c) => {
      await delay(50);
      return c.text("slow");
    })
    .get("/socket", (c) => upgradeWebSocket(c, {}));
  await using server = await serve(app.fetch, LOCAL);
  const answersTo = async (requests: number) => {
    using client = await RawClient.connect(server);
    const slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n".repeat(requests);
    client.socket.write(`${slow}${UPGRADE.join("\r\n")}\r\n\r\n`);
    await client.until(/HTTP\/1\.1 (101|400)/);
    return client.received.match(/(?<=HTTP\/1\.1 )\d+/g);
  };
  for (const requests of [1, 20]) {
    assert.deepEqual(await answersTo(requests), [...Array(requests).fill("200"), "400"]);
  }
  assert.equal((await answersTo(0))?.at(-1), "101");
});

/** Waits until a count has grown and then stopped growing for a while; returns it. */
async function settled(count: () => number): Promise<number> {
  for (let before = 0, sinceMs = 0;;) {
    await delay(50);
    const now = count();
    sinceMs = now === before ? sinceMs + 50 : 0;
    if (now > 0 && sinceMs >= 500) return now;
    before = now;
  }
}
