import assert from "node:assert/strict";
import { Hono } from "hono";
import type { WSEvents } from "hono/ws";
import { serve } from "../../src/runtime/listen.ts";
import { upgradeWebSocket } from "../../src/runtime/websocket/websocket.ts";
import type { WebSocketOptions } from "../../src/runtime/websocket/options.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { RawClient } from "./raw_client.ts";
import { test, testOn } from "../support/test.ts";

for (const { maxPendingMessages } of [{}, { maxPendingMessages: 3 }] as WebSocketOptions[]) {
  const limit = maxPendingMessages ?? 1000;
  test(`at most ${limit} messages of a client are handled at once, then it is closed with 1008`, () =>
    captureLogs(["fw"], async (records) => {
      let handled = 0;
      const onMessage: WSEvents["onMessage"] = () => {
        handled++;
        return new Promise(() => {}); // as one that waits for a lost connection
      };
      await using server = await serveSockets({ onMessage }, { maxPendingMessages });
      const client = await open(server.url);
      const closed = new Promise<CloseEvent>((resolve) => client.onclose = resolve);
      for (let sent = 0; sent <= limit; sent++) client.send("x");
      const { code, reason } = await closed;
      assert.deepEqual([code, reason], [1008, "Too many messages"]);
      assert.equal(handled, limit);
      assert.deepEqual(records.map(({ level }) => level), ["warning"]);
    }));
}

test("at most 16 MiB of messages wait for their handlers, then it is closed with 1008", () =>
  captureLogs(["fw"], async (records) => {
    let handled = 0;
    const onMessage: WSEvents["onMessage"] = () => {
      handled++;
      return new Promise(() => {});
    };
    await using server = await serveSockets({ onMessage }, {});
    const client = await open(server.url);
    const closed = new Promise<CloseEvent>((resolve) => client.onclose = resolve);
    const mebibyte = 1024 * 1024;
    for (const size of [8 * mebibyte, 7 * mebibyte, mebibyte]) client.send(new Uint8Array(size));
    client.send("x");
    const { code, reason } = await closed;
    assert.deepEqual([code, reason], [1008, "Too many messages"]);
    assert.equal(handled, 3);
    assert.deepEqual(records.map(({ level }) => level), ["warning"]);
  }));

test("a message of any size is handled alone, and those that are handled do not count", () =>
  captureLogs(["fw"], async () => {
    const sizes: number[] = [];
    const onMessage: WSEvents["onMessage"] = ({ data }, socket) => {
      sizes.push(String(data).length);
      socket.send("next");
    };
    await using server = await serveSockets({ onMessage }, { maxPendingBytes: 10 });
    const client = await open(server.url);
    for (const size of [100, 10, 11]) {
      const answer = new Promise<unknown>((resolve) => client.onmessage = client.onclose = resolve);
      client.send("x".repeat(size));
      await answer;
    }
    assert.deepEqual(sizes, [100, 10, 11]);
    client.close();
  }));

test("a WebSocket stays open for any number of messages that are handled, or that fail", () =>
  captureLogs(["fw"], async () => {
    const onMessage: WSEvents["onMessage"] = async ({ data }, socket) => {
      await Promise.resolve();
      socket.send(String(data));
    };
    await using server = await serveSockets({ onMessage }, { maxPendingMessages: 1 });
    const client = await open(server.url);
    for (let sent = 0; sent < 10; sent++) {
      const answer = new Promise<MessageEvent>((resolve) => client.onmessage = resolve);
      client.send(String(sent));
      assert.equal((await answer).data, String(sent));
    }
    const closed = new Promise((resolve) => client.onclose = resolve);
    client.close();
    await closed;
  }));

testOn(["deno"], "the result does not depend on the runtime")(
  "upgradeWebSocket() refuses limits of messages that are not positive integers",
  async () => {
    for (const limit of [-1, 0, 0.5, NaN]) {
      for (const name of ["maxMessageBytes", "maxPendingMessages", "maxPendingBytes"]) {
        const options = { [name]: limit };
        const app = new Hono().get("/", (c) => upgradeWebSocket(c, {}, options));
        app.onError((error, c) => c.text(error.name));
        assert.equal(await (await app.request("/")).text(), "RangeError");
      }
    }
  },
);

testOn(["node", "bun"], "Deno does not limit messages")(
  "a message over 16 MiB closes its WebSocket before it is handled",
  async () => {
    let handled = 0;
    await using server = await serveSockets({ onMessage: () => void handled++ }, {});
    const client = await open(server.url);
    const closed = new Promise((resolve) => client.onclose = resolve);
    client.send("x".repeat(16 * 1024 * 1024 + 1));
    await closed;
    assert.equal(handled, 0);
  },
);

test("the time to check subprotocols is proportional to their length", async () => {
  const app = new Hono().get("/", (c) => upgradeWebSocket(c, {}));
  app.onError((error, c) => c.text(error.name));
  const headers = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-protocol": `a${" ".repeat(500_000)}b`,
  };
  const startedAt = performance.now();
  const response = await app.request("/", { headers });
  assert.equal(await response.text(), "BadRequestException");
  assert.ok(performance.now() - startedAt < 20_000); // minutes, if it were its square
});

test("messages after the close of a WebSocket are not handled", async () => {
  const handled: string[] = [];
  const first = Promise.withResolvers<void>();
  const onMessage: WSEvents["onMessage"] = ({ data }, socket) => {
    handled.push(String(data));
    socket.close(4001, "not allowed");
    first.resolve();
  };
  await using server = await serveSockets({ onMessage }, {});
  using client = await RawClient.connect(server);
  await handshake(client);
  for (const text of ["1", "2", "3"]) {
    client.socket.write(textFrame(text));
    await first.promise;
    await new Promise((resolve) => setTimeout(resolve, 50)); // it answers no close
  }
  assert.deepEqual(handled, ["1"]);
});

test("a message that is received together with a close is handled", async () => {
  const handled = Promise.withResolvers<string>();
  const onMessage: WSEvents["onMessage"] = ({ data }) => handled.resolve(String(data));
  await using server = await serveSockets({ onMessage }, {});
  using client = await RawClient.connect(server);
  await handshake(client);
  client.socket.write(Uint8Array.from([...textFrame("bye"), 0x88, 0x80, 0, 0, 0, 0]));
  assert.equal(await handled.promise, "bye");
});

test("a burst of messages to a handler that waits closes its WebSocket with 1008", () =>
  captureLogs(["fw"], async (records) => {
    let handled = 0;
    const onMessage: WSEvents["onMessage"] = () => {
      handled++;
      return new Promise(() => {});
    };
    await using server = await serveSockets({ onMessage }, {});
    using client = await RawClient.connect(server);
    await handshake(client);
    client.socket.write(burst(200_000));
    // the low byte of 1008, and the reason
    await client.take(/\xf0Too many messages/).catch((error) => {
      if (!client.isClosed) throw error; // Deno resets a connection with messages that are not read
    });
    assert.equal(handled, 1000);
    assert.deepEqual(records.map(({ level }) => level), ["warning"]);
  }));

for (const isAsync of [false, true]) {
  const kind = isAsync ? "an asynchronous" : "a synchronous";
  test(`a burst of messages to ${kind} handler that waits for nothing is handled whole`, async () => {
    const count = 50_000;
    const all = Promise.withResolvers<void>();
    let handled = 0;
    let ended: unknown;
    const next = () => ++handled === count ? all.resolve() : undefined;
    const onMessage: WSEvents["onMessage"] = isAsync
      ? async () => {
        await Promise.resolve();
        next();
      }
      : next;
    const onClose = ({ code }: CloseEvent) => {
      ended = code;
      all.resolve();
    };
    await using server = await serveSockets({ onMessage, onClose }, {});
    using client = await RawClient.connect(server);
    await handshake(client);
    client.socket.write(burst(count));
    await all.promise;
    assert.deepEqual([handled, ended], [count, undefined]);
  });
}

test("messages wait until an asynchronous onOpen has ended, and are dropped if it fails", () =>
  captureLogs(["fw"], async () => {
    for (const isAllowed of [true, false]) {
      const events: string[] = [];
      const opening = Promise.withResolvers<void>();
      await using server = await serveSockets({
        async onOpen() {
          await opening.promise;
          events.push("open");
          if (!isAllowed) throw new Error("not allowed");
        },
        onMessage: ({ data }, socket) => {
          events.push(String(data));
          socket.send("handled");
        },
      }, {});
      const client = await open(server.url);
      const answered = new Promise((resolve) => client.onmessage = client.onclose = resolve);
      client.send("1");
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual(events, []);
      opening.resolve();
      await answered;
      assert.deepEqual(events, isAllowed ? ["open", "1"] : ["open"]);
      client.close();
    }
  }));

async function handshake(client: RawClient): Promise<void> {
  client.send([
    "GET / HTTP/1.1",
    "Host: localhost",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${btoa("0123456789abcdef")}`,
  ]);
  await client.take(/ 101 [^]*\r\n\r\n/);
}

function textFrame(text: string): Uint8Array {
  return Uint8Array.from([0x81, 0x80 | text.length, 0, 0, 0, 0, ...new TextEncoder().encode(text)]);
}

/** Returns the frames of messages of one letter. */
function burst(count: number): Uint8Array {
  const frame = textFrame("x");
  return Uint8Array.from({ length: count * frame.length }, (_, i) => frame[i % frame.length]!);
}

function serveSockets(events: WSEvents, options: WebSocketOptions) {
  const app = new Hono().get("/", (c) => upgradeWebSocket(c, events, options));
  return serve(app.fetch, { port: 0, hostname: "127.0.0.1" });
}

async function open(url: string): Promise<WebSocket> {
  const client = new WebSocket(url.replace("http", "ws"));
  await new Promise((resolve) => client.onopen = resolve);
  return client;
}
