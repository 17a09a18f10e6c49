/** WebSockets of the client, on each runtime. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { FwFactory } from "../../mod.ts";
import { createClient } from "../../src/client/mod.ts";
import { test } from "../support/test.ts";
import { BORN, ChatModule, type Chats, silence, TALK, talk } from "./chat.ts";

async function serve() {
  const app = (await FwFactory.create(ChatModule)).enableUriVersioning();
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  return { url, api: createClient<Chats>(url), [Symbol.asyncDispose]: () => app.close() };
}

test("connect() sends and receives typed messages, and ends with the WebSocket", async () => {
  await using server = await serve();
  assert.deepEqual(await talk(server.api), TALK);
  const socket = await server.api.connect("/v1/chat/:room", {
    params: { room: "a b" },
    query: { greet: "hi" },
  });
  socket.send({ text: "1" });
  socket.send({ text: "2", at: 2 });
  socket.send({ text: "leave" });
  const seen: (readonly [room: string, text: string, born: string])[] = [];
  for await (const { room, text, born } of socket) seen.push([room, text, born]);
  assert.deepEqual(seen, ["hi", "1", "2"].map((text) => ["a b", text, BORN.toJSON()]));
  const { code, reason, wasClean } = await socket.closed;
  assert.deepEqual([code, reason, wasClean], [1000, "bye", true]);
  assert.throws(() => socket.send({ text: "late" }), {
    message: "Cannot send the message: the WebSocket is closed",
  });
});

test("a loop over messages closes their WebSocket when it is left", async () => {
  await using server = await serve();
  const socket = await server.api.connect("/v1/chat/:room", {
    params: { room: "a" },
    query: { greet: "hi" },
  });
  for await (const { text } of socket) {
    assert.equal(text, "hi");
    break;
  }
  assert.equal((await socket.closed).code, 1000);
});

test("a loop over messages throws if the server refuses one, or fails", async () => {
  await using server = await serve();
  for (
    const [text, end] of [
      [1 as never, "1007 Invalid message: text: Invalid type: Expected string"],
      ["fail", "1011 Internal error"],
    ] as const
  ) {
    const socket = await server.api.connect("/v1/chat/:room", { params: { room: "a" } });
    socket.send({ text: "first" });
    socket.send({ text });
    const seen: string[] = [];
    await assert.rejects(async () => {
      for await (const { text } of socket) seen.push(text);
    }, { name: "Error", message: `The WebSocket is closed: ${end}` });
    assert.deepEqual(seen, ["first"]);
  }
});

test("connect() fails without a WebSocket, in time, and when it is aborted", async () => {
  await using server = await serve();
  const { api } = server;
  await assert.rejects(
    // @ts-expect-error: it declares no messages
    api.connect("/v1/chat/plain/all"),
    /^Error: Cannot connect to ws:.*\/plain\/all: it is refused, or not reached$/,
  );
  await assert.rejects(
    createClient<Chats>("http://127.0.0.1:1").connect("/v1/chat/:room", { params: { room: "a" } }),
    /^Error: Cannot connect to ws:\/\/127.0.0.1:1\/v1\/chat\/a: it is refused, or not reached$/,
  );
  await assert.rejects(
    api.connect("/v1/chat/silent/:room", { params: { room: "a" }, timeoutMs: 20 }),
    { name: "TimeoutError" },
  );
  silence.resolve(new Response());
  const reason = new Error("no longer");
  const aborted = AbortSignal.abort(reason);
  await assert.rejects(
    api.connect("/v1/chat/:room", { params: { room: "a" }, signal: aborted }),
    reason,
  );
  const controller = new AbortController();
  const { signal } = controller;
  const socket = await api.connect("/v1/chat/:room", { params: { room: "a" }, signal });
  controller.abort(reason);
  await assert.rejects(async () => {
    for await (const _ of socket);
  }, reason);
});

test("connect() keeps at most 16 777 216 characters of messages", async () => {
  await using server = await serve();
  let arrived = Promise.withResolvers<void>();
  const api = createClient<Chats>(server.url, {
    webSocket(url) {
      const opened = new WebSocket(url);
      opened.addEventListener("message", () => arrived.resolve());
      return opened;
    },
  });
  const socket = await api.connect("/v1/chat/big/all");
  await assert.rejects(async () => {
    for (;;) { // one at a time: the server would close one that reads too slowly
      arrived = Promise.withResolvers();
      socket.send({ text: "more" });
      await arrived.promise;
    }
  }, { message: "Cannot send the message: the WebSocket is closed" });
  assert.equal((await socket.closed).code, 4008);
  let seen = 0;
  await assert.rejects(async () => {
    for await (const _ of socket) seen++;
  }, { name: "RangeError" });
  assert.equal(seen, 16);
});

test("webSocket of createClient() opens WebSockets", async () => {
  await using server = await serve();
  const urls: string[] = [];
  const api = createClient<Chats>(server.url, {
    webSocket(url) {
      urls.push(url);
      return new WebSocket(url);
    },
  });
  const socket = await api.connect("/v1/chat/:room", { params: { room: "ä" } });
  socket.close(3001, "enough");
  assert.equal((await socket.closed).code, 3001);
  assert.match(urls.join(), /^ws:\/\/127\.0\.0\.1:\d+\/v1\/chat\/%C3%A4$/);
});

test("loops over one WebSocket share its messages, and all of them end", async () => {
  await using server = await serve();
  const socket = await server.api.connect("/v1/chat/:room", { params: { room: "a" } });
  for (const text of ["1", "2", "3", "4"]) socket.send({ text });
  await delay(100); // all of them wait
  const seen: string[] = [];
  const { value } = await socket[Symbol.asyncIterator]().next();
  seen.push(value!.text);
  const loop = async () => {
    for await (const { text } of socket) seen.push(text);
  };
  const loops = [loop(), loop()];
  await delay(20);
  socket.send({ text: "leave" });
  await Promise.all(loops);
  assert.deepEqual(seen.sort(), ["1", "2", "3", "4"]);
});

test("a message or a close that is invalid throws, and the WebSocket stays open", async () => {
  await using server = await serve();
  const socket = await server.api.connect("/v1/chat/:room", { params: { room: "a" } });
  for (const [message, error] of [[undefined, /it is not JSON$/], [1n, /BigInt/]] as const) {
    assert.throws(() => socket.send(message as never), { name: "TypeError", message: error });
  }
  assert.throws(() => socket.close(7));
  socket.send({ text: "1" });
  for await (const { text } of socket) {
    assert.equal(text, "1");
    socket.close(3001);
  }
});

test("options of connect() that are undefined are those of the client", async () => {
  await using server = await serve();
  const stop = new AbortController();
  const { signal } = stop;
  const api = createClient<Chats>(server.url, { timeoutMs: Infinity, signal });
  const input = { params: { room: "a" }, signal: undefined, timeoutMs: undefined };
  const socket = await api.connect("/v1/chat/:room", input as never);
  stop.abort();
  await assert.rejects(Array.fromAsync(socket), { name: "AbortError" });
});

test("errors of connect() have no query and no password", async () => {
  const api = createClient<Chats>("http://ann:SECRET@127.0.0.1:1");
  const input = { params: { room: "a" }, query: { greet: "SECRET" } };
  await assert.rejects(api.connect("/v1/chat/:room", input), {
    message: "Cannot connect to ws://127.0.0.1:1/v1/chat/a: it is refused, or not reached",
  });
});
