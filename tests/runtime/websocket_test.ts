import assert from "node:assert/strict";
import { configureSync, type LogRecord, resetSync } from "@logtape/logtape";
import { Hono } from "hono";
import type { WSEvents } from "hono/ws";
import { once } from "node:events";
import { connect } from "node:net";
import { HttpException } from "../../src/core/http/http_exception.ts";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { serve } from "../../src/runtime/listen.ts";
import { upgradeWebSocket } from "../../src/runtime/websocket/websocket.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { RawClient } from "./raw_client.ts";
import { test } from "../support/test.ts";

test("upgradeWebSocket() calls a handler for each event of a socket, and sends text and bytes", async () => {
  const seen: string[] = [];
  const closed = Promise.withResolvers<void>();
  await using server = await serveSockets({
    onOpen: () => void seen.push("open"),
    onMessage: ({ data }, socket) => {
      seen.push(typeof data);
      socket.send(data as string);
    },
    onClose: ({ code, reason }) => {
      seen.push(`${code} ${reason}`);
      closed.resolve();
    },
  });
  const client = await open(server);
  assert.equal(await echo(client, "héllo"), "héllo");
  const bytes = Uint8Array.from([0, 1, 254, 255]);
  assert.deepEqual(new Uint8Array(await echo(client, bytes) as ArrayBuffer), bytes);
  client.close(4000, "enough");
  await closed.promise;

  assert.deepEqual(seen, ["open", "string", "object", "4000 enough"]);
});

test("the first WebSockets of a server open at once", async () => {
  await using server = await serveSockets({
    onMessage: ({ data }, socket) => socket.send(data as string),
  });
  const clients = await Promise.all(Array.from({ length: 20 }, () => open(server)));
  const echoes = await Promise.all(clients.map((client, index) => echo(client, `${index}`)));
  assert.deepEqual(echoes, clients.map((_, index) => `${index}`));
});

test("upgradeWebSocket() passes a socket that the handler can close", async () => {
  await using server = await serveSockets({
    onMessage: (_, socket) => socket.close(4001, "no more"),
  });
  const client = await open(server);
  client.send("?");

  const { code, reason, wasClean } = await closing(client);
  assert.deepEqual([code, reason, wasClean], [4001, "no more", true]);
});

test("a WebSocket is closed with 1011 if its handler closes it with what nobody may send", () =>
  captureLogs(["fw"], async (records) => {
    const codes = [999, 1004, 1005, 1006, 1015, 2000, 5000, NaN];
    const closes = [...codes.map((code) => [code]), [4000, "é".repeat(62)]];
    await using server = await serveSockets({
      onMessage: ({ data }, socket) =>
        socket.close(...closes[Number(data)] as [number, string | undefined]),
    });
    for (const index of closes.keys()) {
      const client = await open(server);
      client.send(String(index));
      assert.equal((await closing(client)).code, 1011, `${closes[index]}`);
    }
    assert.equal(records.length, closes.length);
  }));

test("upgradeWebSocket() selects the first protocol that the client offers", async () => {
  await using server = await serveSockets({});
  const client = await open(server, ["chat", "superchat"]);
  assert.equal(client.protocol, "chat");
  client.close();
  await closing(client);
});

test("upgradeWebSocket() closes a socket whose handler throws with 1011, and logs the error", async () => {
  const failures = [
    () => {
      throw new Error("failed");
    },
    () => Promise.reject(new Error("failed")),
  ];
  for (const onMessage of failures) {
    const records = recordLogs();
    await using server = await serveSockets({ onMessage });
    const client = await open(server);
    client.send("?");
    const { code, reason } = await closing(client);
    resetSync();

    assert.deepEqual([code, reason], [1011, "Internal error"]);
    const logged = records.map(({ level, properties }) => [level, String(properties.error)]);
    assert.deepEqual(logged, [["error", "Error: failed"]]);
  }
});

test("upgradeWebSocket() refuses a request without an upgrade with 426", async () => {
  const app = new Hono().get("/", (c) => upgradeWebSocket(c, {}));
  app.onError((error, c) => {
    assert.ok(error instanceof HttpException);
    return c.body(error.message, error.status as 426, { ...error.headers });
  });
  await using server = await serve(app.fetch, { port: 0 });

  const response = await fetch(server.url);
  assert.deepEqual(
    [response.status, response.headers.get("upgrade"), await response.text()],
    [426, "websocket", "The request must be upgraded to a WebSocket"],
  );
});

test("upgradeWebSocket() reads the upgrade token in any case", async () => {
  await using server = await serveSockets({});
  assert.equal(await statusOfUpgrade(server, "WebSocket"), 101);
});

test("a server ignores upgrades other than to a WebSocket", async () => {
  await using server = await serve(() => new Response("plain"), { port: 0 });
  assert.equal(await statusOfUpgrade(server, "h2c"), 200);
});

test("HttpServer.close() closes open sockets with 1001", async () => {
  const server = await serveSockets({});
  const client = await open(server);
  const closed = closing(client);
  await server.close();

  assert.equal((await closed).code, 1001);
});

test("HttpServer.close() accepts WebSockets while connections are still accepted", async () => {
  const server = await serveSockets({});
  const closed = server.close({ lameDuckMs: 400 });
  const client = await open(server);

  assert.equal((await closing(client)).code, 1001);
  await closed;
});

test("HttpServer.close() also closes a socket that was requested just before", async () => {
  const server = await serveSockets({});
  const closed = server.close({ lameDuckMs: 100 });
  const client = await open(server);

  assert.equal((await closing(client)).code, 1001);
  await closed;
});

test("HttpServer.close() closes sockets with 1001 although a body does not arrive", async () => {
  const isReceiving = Promise.withResolvers<void>();
  const app = new Hono().get("/", (c) => upgradeWebSocket(c, {})).post("/", async (c) => {
    isReceiving.resolve();
    return c.text(await c.req.text());
  });
  const server = await serve(app.fetch, { port: 0, hostname: "127.0.0.1" });
  const client = await open(server);
  using upload = await RawClient.connect(server);
  upload.send(["POST / HTTP/1.1", "Host: x", "Content-Length: 8"], "half");
  await isReceiving.promise;
  const closed = closing(client);
  const stopped = server.close({ drainMs: 20_000 });

  assert.equal((await closed).code, 1001);
  upload.socket.write("done");
  await upload.until(/halfdone$/);
  await stopped;
});

function serveSockets(events: WSEvents): Promise<HttpServer> {
  const app = new Hono().get("/", (c) => upgradeWebSocket(c, events));
  return serve(app.fetch, { port: 0, hostname: "127.0.0.1" });
}

async function open({ url }: HttpServer, protocols: string[] = []): Promise<WebSocket> {
  const socket = new WebSocket(url.replace("http", "ws"), protocols);
  socket.binaryType = "arraybuffer";
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return socket;
}

function closing(socket: WebSocket): Promise<CloseEvent> {
  return new Promise((resolve) => socket.onclose = resolve);
}

function echo(socket: WebSocket, data: string | Uint8Array<ArrayBuffer>): Promise<unknown> {
  const answer = new Promise((resolve) => socket.onmessage = ({ data }) => resolve(data));
  socket.send(data);
  return answer;
}

/** Requests any kind of upgrade; returns the status of the response. */
async function statusOfUpgrade({ port }: HttpServer, token: string): Promise<number> {
  const socket = connect({ port, host: "127.0.0.1" });
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const upgrade = `Connection: Upgrade\r\nUpgrade: ${token}`;
  socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n${key}\r\n\r\n`);
  socket.setTimeout(10_000, () => socket.destroy(new Error("no answer")));
  const [answer] = await once(socket, "data");
  socket.destroy();
  return Number(String(answer).split(" ")[1]);
}

function recordLogs(): LogRecord[] {
  const records: LogRecord[] = [];
  configureSync({
    reset: true,
    sinks: { memory: (record) => void records.push(record) },
    loggers: [
      { category: "fw", sinks: ["memory"] },
      { category: ["logtape", "meta"], lowestLevel: "warning", sinks: ["memory"] },
    ],
  });
  return records;
}
