/** Requests that ask for a WebSocket, where the route answers otherwise. */
import assert from "node:assert/strict";
import { serve } from "../../src/runtime/listen.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1" };
const UPGRADE = [
  "GET / HTTP/1.1",
  "Host: localhost",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

for (const leave of ["destroy", "end"] as const) {
  test(`a client that leaves (${leave}) during a stream aborts the signal and cancels the stream`, async () => {
    const cancelled = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    await using server = await serve(({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      return new Response(ticking(() => cancelled.resolve()));
    }, LOCAL);
    using client = await RawClient.connect(server);
    client.send(UPGRADE);
    await client.until(/tick/);
    client.socket[leave]();
    await Promise.all([cancelled.promise, aborted.promise]);
  });

  test(`a client that leaves (${leave}) before the response aborts the signal`, async () => {
    const called = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    await using server = await serve(async ({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      called.resolve();
      await aborted.promise;
      return new Response("nobody reads it");
    }, LOCAL);
    using client = await RawClient.connect(server);
    client.send(UPGRADE);
    await called.promise;
    client.socket[leave]();
    await aborted.promise;
  });
}

test("a stream that answers an upgrade request is sent whole", async () => {
  let signal: AbortSignal | undefined;
  const abortedAtLast = Promise.withResolvers<boolean | undefined>();
  await using server = await serve((request) => {
    signal = request.signal;
    const parts = ["first", "x".repeat(100_000), "last"];
    return new Response(
      new ReadableStream({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          const part = parts.shift();
          if (part === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(part));
          if (parts.length === 0) abortedAtLast.resolve(signal?.aborted);
        },
      }),
    );
  }, LOCAL);
  using client = await RawClient.connect(server);
  client.send(UPGRADE);
  await client.until(/last/);
  assert.match(client.received, /first/);
  assert.equal(client.received.replaceAll(/[^x]/g, "").length >= 100_000, true);
  assert.equal(await abortedAtLast.promise, false);
});

/** A body that never ends. */
function ticking(cancelled: () => void): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new TextEncoder().encode("tick\n")), 20);
    },
    cancel() {
      clearInterval(timer);
      cancelled();
    },
  });
}
