import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { serve } from "../../src/runtime/listen.ts";
import { test } from "../support/test.ts";

test("a response stream that fails midway interrupts its response, not the process", async () => {
  await using server = await serve(({ url }) => {
    return url.endsWith("/fails") ? new Response(failing()) : new Response("alive");
  }, { port: 0 });

  const response = await fetch(`${server.url}/fails`);
  assert.equal(response.status, 200);
  await assert.rejects(response.text());
  assert.equal(await (await fetch(server.url)).text(), "alive");
});

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
