/** WebSockets whose messages are declared by schemas. */
import assert from "node:assert/strict";
import type { LogRecord } from "@logtape/logtape";
import { once } from "node:events";
import * as v from "valibot";
import { controller, dto, FwFactory, module, route, upgradeWebSocket } from "../../mod.ts";
import type { MessageEvents, MessageSocket, WebSocketOptions } from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

const Chat = {
  description: "The messages of a room",
  receives: dto(
    "Said",
    v.object({ text: v.pipe(v.string(), v.minLength(1)), at: v.optional(v.number(), 0) }),
  ),
  sends: dto("Heard", v.object({ from: v.string(), text: v.string() })),
};

test("each message is validated, and what is sent is stripped to its schema", async () => {
  const seen: unknown[] = [];
  await using server = await serveChat({
    onOpen: (_, socket) => socket.send({ from: "server", text: "welcome" }),
    onMessage(message, socket) {
      seen.push(message);
      const secret = { from: "ann", text: message.text, secret: "x" };
      socket.send(secret);
    },
  });
  const client = new Client(server.url);
  assert.deepEqual(await client.next(), { from: "server", text: "welcome" });
  client.socket.send(JSON.stringify({ text: "hi", other: 1 }));
  assert.deepEqual(await client.next(), { from: "ann", text: "hi" });
  assert.deepEqual(seen, [{ text: "hi", at: 0 }]);
  client.socket.close();
});

for (
  const [data, reason] of [
    [JSON.stringify({ text: "" }), "Invalid message: text: Invalid length: Expected >=1"],
    [JSON.stringify([]), "Invalid message: Invalid type: Expected Object"],
    ["{", "Invalid message: It is not JSON"],
    ["[".repeat(513) + "]".repeat(513), "Invalid message: The body is nested too deeply"],
    [`[${"1,".repeat(30_000)}1]`, "Invalid message: The body has more than 20971 values"],
    [new Uint8Array([1]), "Invalid message: It is not text"],
  ] as const
) {
  test(`an invalid message closes its WebSocket with 1007: ${reason}`, async () => {
    let count = 0;
    await using server = await serveChat({ onMessage: () => void count++ });
    const client = new Client(server.url);
    await once(client.socket, "open");
    client.socket.send(data);
    const [event] = await once(client.socket, "close") as [CloseEvent];
    assert.deepEqual([event.code, event.reason, count], [1007, reason, 0]);
  });
}

test("a message of more than maxMessageBytes closes its WebSocket with 1009", async () => {
  await using server = await serveChat({ onInvalid: () => {} }, { maxMessageBytes: 50 });
  const client = new Client(server.url);
  await once(client.socket, "open");
  client.socket.send("x".repeat(50));
  client.socket.send("x".repeat(51));
  const [event] = await once(client.socket, "close") as [CloseEvent];
  assert.deepEqual([event.code, event.reason], [1009, "The message is too large"]);
});

test("onInvalid takes the reasons of an invalid message, and the WebSocket stays open", async () => {
  await using server = await serveChat({
    onInvalid: ([issue], socket) => socket.send({ from: "server", text: issue!.message }),
    onMessage: ({ text }, socket) => socket.send({ from: "ann", text }),
  });
  const client = new Client(server.url);
  await once(client.socket, "open");
  client.socket.send(JSON.stringify({ text: 1 }));
  client.socket.send(JSON.stringify({ text: "hi" }));
  assert.deepEqual(await client.next(), {
    from: "server",
    text: "Invalid type: Expected string",
  });
  assert.deepEqual(await client.next(), { from: "ann", text: "hi" });
  client.socket.close();
});

test("a message that its schema refuses is not sent: 1011, and a log without its values", () =>
  captureLogs(["fw"], async (records) => {
    await using server = await serveChat({
      onMessage: (_, socket) => socket.send({ from: "ann" } as never),
    });
    const client = new Client(server.url);
    await once(client.socket, "open");
    client.socket.send(JSON.stringify({ text: "SECRET" }));
    const [event] = await once(client.socket, "close") as [CloseEvent];
    assert.deepEqual([event.code, client.count], [1011, 0]);
    assert.deepEqual(errorsOf(records), [
      "TypeError: Cannot send the message: it does not satisfy Heard " +
      '(text: Invalid key: Expected "text")',
    ]);
  }));

test("all handlers of a WebSocket have the same socket, as a set of them needs", async () => {
  const room = new Set<MessageSocket<typeof Chat>>();
  const left = Promise.withResolvers<boolean>();
  await using server = await serveChat({
    onOpen: (_, socket) => void room.add(socket),
    onMessage({ text }, socket) {
      assert.ok(room.has(socket));
      for (const each of room) each.send({ from: "ann", text });
    },
    onClose: (_, socket) => left.resolve(room.delete(socket)),
  });
  const client = new Client(server.url);
  await once(client.socket, "open");
  client.socket.send(JSON.stringify({ text: "hi" }));
  assert.deepEqual(await client.next(), { from: "ann", text: "hi" });
  client.socket.close();
  assert.equal(await left.promise, true);
});

test("messages with asynchronous schemas keep their order", async () => {
  const slow = (ms: (text: string) => number) =>
    v.pipeAsync(
      v.object({ text: v.string() }),
      v.checkAsync(async ({ text }) => {
        await new Promise((resolve) => setTimeout(resolve, ms(text)));
        return text !== "refused";
      }),
    );
  const Slow = {
    description: "Slow",
    receives: slow((text) => text === "0" ? 50 : 0),
    sends: slow((text) => text === "1" ? 50 : 0),
  };
  class SlowController extends controller() {
    slow = route.get("/", (_, c) =>
      upgradeWebSocket(c, {
        onMessage: (message, socket) => socket.send(message),
      }, { messages: Slow }));
  }
  await captureLogs(["fw"], async (records) => {
    await using server = await serveModule(SlowController);
    const client = new Client(server.url);
    await once(client.socket, "open");
    for (let n = 0; n < 5; n++) client.socket.send(JSON.stringify({ text: `${n}` }));
    for (let n = 0; n < 5; n++) assert.deepEqual(await client.next(), { text: `${n}` });
    assert.deepEqual(errorsOf(records), []);
    client.socket.send(JSON.stringify({ text: "refused" }));
    const [event] = await once(client.socket, "close") as [CloseEvent];
    assert.equal(event.code, 1007);
  });
});

for (
  const [texts, seen, heard] of [
    [["slow", "close", "late"], ["slow", "close"], ["slow"]], // by the server, after what it sends
    [["refused", "late"], [], []],
    [["slow"], ["slow"], []], // by the client, after what it sends
  ] as const
) {
  test(`a close keeps its place among slowly validated messages: ${texts}`, async () => {
    const slow = v.pipeAsync(
      v.object({ text: v.string() }),
      v.checkAsync(async ({ text }) => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return text !== "refused";
      }),
    );
    const Slow = { receives: slow, sends: slow };
    const events: string[] = [];
    const closed = Promise.withResolvers<void>();
    class SlowController extends controller() {
      slow = route.get("/", (_, c) =>
        upgradeWebSocket(c, {
          onMessage(message, socket) {
            events.push(message.text);
            if (message.text === "close") socket.close();
            else socket.send(message);
          },
          onClose() {
            events.push("closed");
            closed.resolve();
          },
        }, { messages: Slow }));
    }
    await using server = await serveModule(SlowController);
    const client = new Client(server.url);
    await once(client.socket, "open");
    for (const text of texts) client.socket.send(JSON.stringify({ text }));
    if (texts.length === 1) client.socket.close();
    await closed.promise;
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.deepEqual([events, client.count], [[...seen, "closed"], heard.length]);
  });
}

function errorsOf(records: readonly LogRecord[]): readonly string[] {
  return records.filter(({ level }) => level === "error")
    .map(({ properties }) => String(properties["error"]));
}

async function serveChat(events: MessageEvents<typeof Chat>, options: WebSocketOptions = {}) {
  class ChatController extends controller() {
    room = route.get(
      "/",
      { openapi: { responses: { 101: Chat } } },
      (_, c) => upgradeWebSocket(c, events, { ...options, messages: Chat }),
    );
  }
  return await serveModule(ChatController);
}

async function serveModule(Controller: ReturnType<typeof controller>) {
  const app = await FwFactory.create(module({ controllers: [Controller] }));
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  return { url: url.replace("http", "ws"), [Symbol.asyncDispose]: () => app.close() };
}

/** A client that takes its messages one by one. */
class Client {
  readonly socket: WebSocket;
  count = 0;
  readonly #messages: unknown[] = [];
  #wake = () => {};

  constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.onmessage = ({ data }) => {
      this.count++;
      this.#messages.push(JSON.parse(data));
      this.#wake();
    };
  }

  async next(): Promise<unknown> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#messages.shift();
  }
}
