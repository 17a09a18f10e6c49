/** WebSockets of the client to a server that is faulty or hostile. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "../../src/client/mod.ts";
import { test } from "../support/test.ts";
import type { Chats } from "./chat.ts";

/** Serves WebSockets that send what the function writes, and answer nothing. */
async function serve(write: (connection: Duplex) => void) {
  const connections = new Set<Duplex>();
  const server = createServer().on("upgrade", ({ headers }, connection) => {
    connections.add(connection);
    connection.on("error", () => {}).on("close", () => connections.delete(connection)).resume();
    const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    connection.write(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n" +
        `sec-websocket-accept: ${createHash("sha1").update(key).digest("base64")}\r\n\r\n`,
    );
    setTimeout(write, 50, connection); // after the head
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    connect: (options: { readonly signal?: AbortSignal } = {}) =>
      createClient<Chats>(`http://127.0.0.1:${port}`)
        .connect("/v1/chat/:room", { params: { room: "a" }, ...options }),
    [Symbol.dispose]() {
      for (const connection of connections) connection.destroy();
      server.close();
    },
  };
}

/** Returns the frame of a short text (RFC 6455 §5.2). */
function frame(text: string): string {
  return `\x81${String.fromCharCode(text.length)}${text}`;
}

const HELLO = frame(JSON.stringify({ text: "hello" }));

test("the close of a lost connection is 1006, with the messages before it", async () => {
  using server = await serve((connection) => {
    connection.write(HELLO, "latin1");
    setTimeout(() => connection.destroy(), 50);
  });
  const socket = await server.connect();
  const seen: unknown[] = [];
  await assert.rejects(async () => {
    for await (const { text } of socket) seen.push(text);
  }, { message: "The WebSocket is closed: 1006" });
  assert.deepEqual([seen, (await socket.closed).code], [["hello"], 1006]);
});

test("messages that wait are bounded in number, too", async () => {
  using server = await serve((connection) =>
    connection.write(frame("1").repeat(300_000), "latin1")
  );
  const socket = await server.connect();
  await assert.rejects(async () => {
    for (;;) {
      socket.send({ text: "more" });
      await delay(5);
    }
  }, { message: "Cannot send the message: the WebSocket is closed" });
  let seen = 0;
  await assert.rejects(async () => {
    for await (const _ of socket) seen++;
  }, { name: "RangeError" });
  assert.equal(seen, Math.floor(16_777_216 / 65) + 1);
});

test("a close that the server does not answer ends with 1006", async () => {
  using server = await serve((connection) => connection.write(HELLO, "latin1"));
  const left = await server.connect();
  for await (const _ of left) break;
  const leaving = new AbortController();
  const other = await server.connect({ signal: leaving.signal });
  await assert.rejects(async () => {
    for await (const _ of other) leaving.abort();
  }, { name: "AbortError" });
  assert.deepEqual([(await left.closed).code, (await other.closed).code], [1006, 1006]);
});
