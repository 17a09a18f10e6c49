import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { serve } from "../../src/runtime/listen.ts";
import { test } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";

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
