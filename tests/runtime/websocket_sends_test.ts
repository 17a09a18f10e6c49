import assert from "node:assert/strict";
import { Hono } from "hono";
import type { WSContext, WSEvents } from "hono/ws";
import { Buffer } from "node:buffer";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { serve } from "../../src/runtime/listen.ts";
import { upgradeWebSocket } from "../../src/runtime/websocket/websocket.ts";
import type { WebSocketOptions } from "../../src/runtime/websocket/options.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { setTimeout as delay } from "node:timers/promises";
import { test, testOn } from "../support/test.ts";
import { RawClient } from "./raw_client.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1" };
const CHUNK = "x".repeat(65_536);
const MIB = 1024 * 1024;

/** A WebSocket of a runtime; the packages have no types. */
interface Raw {
  readonly bufferedAmount?: number;
  getBufferedAmount?(): number;
  send(data: string): void;
}

for (const through of ["WSContext", "the runtime's socket"] as const) {
  for (const { maxBufferedBytes } of [{}, { maxBufferedBytes: MIB }] as WebSocketOptions[]) {
    const limit = maxBufferedBytes ?? 4 * MIB;
    test(`a client that never reads has at most ${limit / MIB} MiB buffered, sent by ${through}`, () =>
      captureLogs(["fw"], async (records) => {
        const opened = Promise.withResolvers<WSContext>();
        const onOpen: WSEvents["onOpen"] = (_, socket) => opened.resolve(socket);
        await using server = await serveSockets({ onOpen }, { maxBufferedBytes });
        using client = await stalled(server);
        const socket = await opened.promise;
        const raw = socket.raw as Raw;
        let most = 0;
        for (let sent = 0; records.length === 0 && sent < 100 * MIB; sent += CHUNK.length) {
          if (through === "WSContext") socket.send(CHUNK);
          else raw.send(CHUNK);
          most = Math.max(most, raw.getBufferedAmount?.() ?? raw.bufferedAmount ?? 0);
        }
        assert.deepEqual(records.map(({ level }) => level), ["warning"]);
        assert.ok(most > limit && most < limit + 2 * CHUNK.length, String(most));
        socket.send(CHUNK); // is ignored
        assert.equal(records.length, 1);
        client.socket.destroy();
      }));
  }
}

test("a WebSocket that is closed as its client does not read has one onClose, and nothing after", () =>
  captureLogs(["fw"], async (records) => {
    const events: string[] = [];
    const [closed, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const report = (event: string) => {
      (events.includes("close") ? later : closed).resolve();
      events.push(event);
    };
    await using server = await serveSockets({
      onOpen(_, socket) {
        while (records.length === 0) socket.send(CHUNK);
      },
      onError: () => report("error"),
      onClose: () => report("close"),
    });
    using client = await stalled(server);
    await delay(100); // until Deno has begun to close it
    client.socket.destroy();
    await closed.promise;
    await Promise.race([later.promise, delay(500)]);
    assert.deepEqual(events.slice(events.indexOf("close")), ["close"]);
  }));

test("a client that reads again sees that its WebSocket was closed with 1013", () =>
  captureLogs(["fw"], async (records) => {
    const onOpen: WSEvents["onOpen"] = (_, socket) => {
      while (records.length === 0) socket.send(CHUNK);
    };
    await using server = await serveSockets({ onOpen });
    const client = new WebSocket(server.url.replace("http", "ws"));
    const closed = await new Promise<CloseEvent>((resolve) => client.onclose = resolve);
    assert.deepEqual([closed.code, closed.reason], [1013, "The client does not read"]);
  }));

test("a message of any size can be sent to a client that reads", async () => {
  const onOpen: WSEvents["onOpen"] = (_, socket) => socket.send("x".repeat(10 * MIB));
  await using server = await serveSockets({ onOpen }, { maxBufferedBytes: 0 });
  const client = new WebSocket(server.url.replace("http", "ws"));
  const { data } = await new Promise<MessageEvent>((resolve) => client.onmessage = resolve);
  assert.equal(data.length, 10 * MIB);
  const closed = new Promise((resolve) => client.onclose = resolve);
  client.close();
  await closed;
});

test("a client that sends pings and reads nothing has at most 16 MiB buffered", () =>
  captureLogs(["fw"], async () => {
    const opened = Promise.withResolvers<Raw>();
    const onOpen: WSEvents["onOpen"] = (_, { raw }) => opened.resolve(raw as Raw);
    await using server = await serveSockets({ onOpen });
    using client = await stalled(server);
    const raw = await opened.promise;
    // 60 MB of pings; the server may stop reading or close before
    const pings = Buffer.concat(Array(8_000).fill(ping(120)));
    let most = 0;
    for (let sent = 0; sent < 60 && !client.socket.destroyed; sent++) {
      const written = new Promise<boolean>((resolve) =>
        client.socket.write(pings, () => resolve(true))
      );
      if (!await Promise.race([written, delay(2_000, false)])) break;
      most = Math.max(most, raw.getBufferedAmount?.() ?? raw.bufferedAmount ?? 0);
    }
    assert.ok(most <= 17 * MIB, String(most));
    client.socket.destroy();
  }));

testOn(["deno"], "the result does not depend on the runtime")(
  "upgradeWebSocket() refuses a maxBufferedBytes that is not an integer from 0 to 16 MiB",
  async () => {
    for (const maxBufferedBytes of [-1, 0.5, NaN, 16 * MIB + 1]) {
      const app = new Hono().get("/", (c) => upgradeWebSocket(c, {}, { maxBufferedBytes }));
      app.onError((error, c) => c.text(error.name));
      assert.equal(await (await app.request("/")).text(), "RangeError");
    }
  },
);

function serveSockets(events: WSEvents, options?: WebSocketOptions): Promise<HttpServer> {
  const app = new Hono().get("/", (c) => upgradeWebSocket(c, events, options));
  return serve(app.fetch, LOCAL);
}

/** Opens a WebSocket that reads nothing. */
async function stalled(server: HttpServer): Promise<RawClient> {
  const client = await RawClient.connect(server);
  const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
  client.send(["GET / HTTP/1.1", "Host: x", "Connection: Upgrade", "Upgrade: websocket", ...key]);
  client.socket.once("data", () => client.socket.pause());
  await client.until(/^HTTP\/1\.1 101 /);
  return client;
}

/** Creates a ping of a client (RFC 6455 §5.5.2) with a zero mask. */
function ping(length: number): Uint8Array {
  const frame = new Uint8Array(6 + length);
  frame.set([0x89, 0x80 | length]);
  return frame;
}
