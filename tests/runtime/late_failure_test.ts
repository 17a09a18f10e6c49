import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { streamSSE } from "hono/streaming";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { serve } from "../../src/runtime/listen.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

test("a response stream that fails midway interrupts its response, not the process", async () => {
  await using server = await serve(({ url }) => {
    return url.endsWith("/fails") ? new Response(failing()) : new Response("alive");
  }, { port: 0 });

  const response = await fetch(`${server.url}/fails`);
  assert.equal(response.status, 200);
  await assert.rejects(response.text());
  assert.equal(await (await fetch(server.url)).text(), "alive");
});

test("a response to HTTP/1.0 that fails midway does not end as if it were complete", async () => {
  await using server = await serve(() => new Response(failing()), { port: 0 });
  using client = await RawClient.connect(server);
  client.send(["GET / HTTP/1.0", "Host: x"]);
  assert.match(await client.end(), /^HTTP\/1\.[01] 200 /);
  // Deno cannot reset a connection: the end of its response is that of the connection
  assert.equal(client.isReset, RUNTIME !== "deno");
});

test("events for a client of HTTP/1.0 are no chunks, and end with the connection", async () => {
  class EventsController extends controller() {
    events = route.get(
      "/",
      (_, c) => streamSSE(c, (stream) => stream.writeSSE({ data: "first" })),
    );
  }
  await using app = await FwFactory.create(module({ controllers: [EventsController] }));
  const server = await app.listen(0, { hostname: "127.0.0.1" });
  using client = await RawClient.connect(server);
  client.send(["GET / HTTP/1.0", "Host: x"]);
  const received = await client.end();
  assert.match(received, /\r\n\r\ndata: first\n\n$/);
  assert.doesNotMatch(received, /^transfer-encoding/im);
});

test("a response stream that fails at once sends neither its error nor a whole response", () =>
  captureLogs(["fw"], async (records) => {
    const failures: Readonly<Record<string, UnderlyingDefaultSource>> = {
      pull: { pull: fail },
      start: { start: async () => fail(await delay(0)) },
      later: { pull: async () => fail(await delay(1)) },
      chunk: {
        pull(controller) {
          controller.enqueue(new Uint8Array(10));
          fail();
        },
      },
    };
    class FailingController extends controller() {
      fails = route.get(
        "/:how",
        ({ params }) => new Response(new ReadableStream(failures[params.how]!)),
      );
      alive = route.get("/", () => "alive");
    }
    await using app = await FwFactory.create(module({ controllers: [FailingController] }));
    const server = await app.listen(0, { hostname: "127.0.0.1" });
    for (const path of Object.keys(failures)) {
      using client = await RawClient.connect(server);
      client.send([`GET /${path} HTTP/1.1`, "Host: x"]);
      await client.end();
      assert.doesNotMatch(client.received, /SECRET|\r\n0\r\n\r\n$|content-length/i, path);
    }
    const errors = records.filter(({ level }) => level === "error");
    if (RUNTIME === "node") assert.equal(errors.length, Object.keys(failures).length);
    assert.equal(await (await fetch(server.url)).json(), "alive");
  }));

test("a client that disconnects aborts the request's signal, and the process continues", async () => {
  const arrived = Promise.withResolvers<void>();
  const { promise: aborted, resolve } = Promise.withResolvers<boolean>();
  await using server = await serve(async ({ url, signal }) => {
    if (!url.endsWith("/slow")) return new Response("alive");
    signal.addEventListener("abort", () => resolve(signal.aborted));
    arrived.resolve();
    await delay(300);
    return new Response("too late");
  }, { port: 0, hostname: "127.0.0.1" });
  const head = "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n";
  await sendAndLeave(server.port, head, arrived.promise);

  assert.equal(await aborted, true);
  await delay(400);
  assert.equal(await (await fetch(server.url)).text(), "alive");
});

test("a client that disconnects during its body makes reading it fail, not the process", async () => {
  const arrived = Promise.withResolvers<void>();
  const { promise: failed, resolve } = Promise.withResolvers<boolean>();
  await using server = await serve(async (request) => {
    if (request.method === "GET") return new Response("alive");
    arrived.resolve();
    resolve(await request.text().then(() => false, () => true));
    return new Response("too late");
  }, { port: 0, hostname: "127.0.0.1" });
  const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n";
  await sendAndLeave(server.port, `${head}half`, arrived.promise);

  assert.equal(await failed, true);
  assert.equal(await (await fetch(server.url)).text(), "alive");
});

function fail(_?: unknown): never {
  throw new Error("the SECRET of a stream");
}

function failing(): ReadableStream<Uint8Array> {
  let chunks = 0;
  return new ReadableStream({
    async pull(controller) {
      await delay(10);
      if (chunks++ < 3) controller.enqueue(new Uint8Array(10));
      else controller.error(new Error("the stream fails, as this test expects"));
    },
  });
}

async function sendAndLeave(port: number, text: string, arrived: Promise<void>): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(text);
  await arrived;
  socket.destroy();
}
