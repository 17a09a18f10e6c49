/** Upgrades begin when their response has left the application; a replaced one never begins. */
import assert from "node:assert/strict";
import { Hono, type Next } from "hono";
import { timeout } from "hono/timeout";
import type { WSContext } from "hono/ws";
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, controller, type FwApplication, FwFactory } from "../../mod.ts";
import {
  ForbiddenException,
  module,
  type NextHandler,
  route,
  upgradeWebSocket,
} from "../../mod.ts";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test, testOn } from "../support/test.ts";
import { helper, serveBare } from "./bare_server.ts";
import { RawClient, UPGRADE } from "./raw_client.ts";

const PROTOCOLS = "Sec-WebSocket-Protocol: chat, log";

/** An application with a WebSocket that sends its subprotocol, and what it has seen. */
interface Fixture extends AsyncDisposable {
  readonly app: FwApplication;
  /** The sockets that have opened. */
  readonly opened: WSContext[];
  /** Resolves when a handler has ended. */
  readonly handled: Promise<void>;
  /** The handlers wait for it. */
  readonly gate: PromiseWithResolvers<void>;
}

async function fixture(before: (c: Context) => void = () => {}): Promise<Fixture> {
  const opened: WSContext[] = [];
  const handled = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  class SocketController extends controller() {
    socket = route.get("/socket", async (_, c) => {
      if (c.req.query("wait") !== undefined) await gate.promise;
      before(c);
      try {
        return await upgradeWebSocket(c, {
          onOpen(_, socket) {
            opened.push(socket);
            socket.send("open");
          },
        });
      } finally {
        handled.resolve(); // Deno refuses it once the request is answered
      }
    });
    plain = route.get("/plain", () => ({ plain: true }));
  }
  const app = await FwFactory.create(module({ controllers: [SocketController] }));
  return { app, opened, handled: handled.promise, gate, [Symbol.asyncDispose]: () => app.close() };
}

async function listen(app: FwApplication): Promise<HttpServer> {
  return await app.listen(0, { hostname: "127.0.0.1" });
}

/** How an application replaces the response, with the response of the client. */
const REPLACEMENTS: readonly (readonly [
  name: string,
  status: number,
  body: RegExp,
  replace: (app: FwApplication) => void,
])[] = [
  ["an interceptor by 403 with a body", 403, /refused/, intercept((c) => c.text("refused", 403))],
  ["an interceptor by 200 with a body", 200, /other/, intercept((c) => c.text("other"))],
  ["an interceptor by 200 without a body", 200, /^$/, intercept(() => new Response(null))],
  ["an interceptor by data", 200, /"other":1/, intercept(() => ({ other: 1 }))],
  [
    "an interceptor that throws",
    403,
    /"status":403/,
    intercept(() => {
      throw new ForbiddenException();
    }),
  ],
  ["middleware by 500", 500, /broken/, (app) =>
    app.use(async (c: Context, next: Next) => {
      await next();
      if (c.res.status === 101) c.res = c.text("broken", 500);
    })],
  ["middleware by 204", 204, /^$/, (app) =>
    app.use(async (c: Context, next: Next) => {
      await next();
      if (c.res.status === 101) c.res = new Response(null, { status: 204 });
    })],
  [
    "middleware that throws",
    500,
    /"status":500/,
    (app) =>
      app.use(async (c: Context, next: Next) => {
        await next();
        if (c.res.status === 101) throw new Error("as this test expects");
      }),
  ],
];

for (const [name, status, body, replace] of REPLACEMENTS) {
  test(`an upgrade that is replaced by ${name} opens no socket`, () =>
    captureLogs(["fw"], async () => {
      await using it = await fixture();
      const { app, opened, handled } = it;
      replace(app);
      const server = await listen(app);
      using client = await RawClient.connect(server);
      client.send(UPGRADE);
      const [head] = await client.take(new RegExp(`^HTTP/1\\.1 ${status} [^]*?\r\n\r\n`));
      assert.doesNotMatch(head, /^(?:upgrade|sec-websocket-accept):/im);
      await client.until(body);
      await usableOrClosed(client, head);
      await handled;
      await app.close();
      assert.deepEqual(opened, []);
    }));
}

test("an upgrade that exceeds a time limit opens no socket", () =>
  captureLogs(["fw"], async () => {
    await using it = await fixture();
    const { app, opened, handled, gate } = it;
    app.use(timeout(10));
    const server = await listen(app);
    using client = await RawClient.connect(server);
    client.send([UPGRADE[0]!.replace("socket", "socket?wait"), ...UPGRADE.slice(1)]);
    const [head] = await client.take(/^HTTP\/1\.1 504 [^]*?\r\n\r\n/);
    await client.until(/"status":504|Gateway Timeout/);
    gate.resolve();
    await usableOrClosed(client, head);
    await handled;
    await app.close();
    assert.deepEqual(opened, []);
  }));

test("replaced upgrades leave nothing: a server still opens WebSockets after 300 of them", () =>
  captureLogs(["fw"], async (records) => {
    await using it = await fixture();
    const { app, opened } = it;
    app.use(async (c: Context, next: Next) => {
      await next();
      if (c.req.query("no") !== undefined) c.res = c.text("refused", 403);
    });
    const server = await listen(app);
    const refused = [UPGRADE[0]!.replace("socket", "socket?no"), ...UPGRADE.slice(1)];
    for (let i = 0; i < 300; i += 20) {
      await Promise.all(Array.from({ length: 20 }, async () => {
        using client = await RawClient.connect(server);
        client.send(refused);
        await client.until(/^HTTP\/1\.1 403 [^]*refused/);
      }));
    }
    using client = await RawClient.connect(server);
    client.send(UPGRADE);
    await client.until(/^HTTP\/1\.1 101 [^]*open$/);
    client.socket.destroy();
    await app.close();
    assert.equal(opened.length, 1);
    assert.deepEqual(records.filter(({ level }) => level === "error"), []);
  }));

const APPENDED = { append: true };

test("headers that the application adds to an upgrade arrive, and its subprotocol", async () => {
  const statuses: number[] = [];
  await using it = await fixture((c) => {
    c.header("x-handler", "1");
    c.header("set-cookie", "handler=1", APPENDED);
    c.header("sec-websocket-protocol", "log");
  });
  const { app } = it;
  app.use(async (c: Context, next: Next) => {
    c.res.headers.set("x-early", "1"); // from here on, Hono copies responses
    await next();
    statuses.push(c.res.status);
    c.header("x-late", "1");
    c.header("set-cookie", "late=1", APPENDED);
    c.res.headers.append("set-cookie", "last=1");
    c.header("sec-websocket-accept", "invalid");
    c.header("content-length", "7");
  });
  app.useGlobalInterceptors(async (_: Context, next: NextHandler) => {
    const response = await next() as Response;
    response.headers.set("x-interceptor", "1");
    return response;
  });
  app.useRequestId({ generator: () => "the-id" }).useRequestTracing();
  const server = await listen(app);
  using client = await RawClient.connect(server);
  client.send([...UPGRADE, PROTOCOLS]);
  const [head] = await client.take(/^HTTP\/1\.1 101 [^]*?\r\n\r\n/);
  const fields = head.toLowerCase().split("\r\n").slice(1);
  const all = (name: string) =>
    fields.filter((line) => line.startsWith(`${name}:`)).map((line) => line.split(": ")[1]).sort();
  assert.deepEqual(all("set-cookie"), ["handler=1", "last=1", "late=1"]);
  assert.deepEqual(all("x-request-id"), ["the-id"]);
  assert.deepEqual(["handler", "early", "late", "interceptor"].flatMap((x) => all(`x-${x}`)), [
    ..."1111",
  ]);
  assert.deepEqual(all("sec-websocket-protocol"), ["log"]);
  assert.deepEqual(all("sec-websocket-accept"), ["s3pplmbitxaq9kygzzhzrbk+xoo="]);
  assert.deepEqual(all("upgrade"), ["websocket"]);
  assert.deepEqual(all("connection"), ["upgrade"]);
  assert.deepEqual(all("content-length"), []);
  await client.until(/open$/);
  assert.deepEqual(statuses, [101]);
  client.socket.destroy();
  await app.close();
});

test("an upgrade with a subprotocol that the client has not offered is a 500, and is logged", () =>
  captureLogs(["fw"], async (records) => {
    await using it = await fixture((c) => c.header("sec-websocket-protocol", "other"));
    const { app, opened } = it;
    app.use(async (c: Context, next: Next) => {
      await next();
      c.header("x-late", "1");
    });
    const server = await listen(app);
    using client = await RawClient.connect(server);
    client.send([...UPGRADE, PROTOCOLS]);
    const [head] = await client.take(/^HTTP\/1\.1 500 [^]*?\r\n\r\n/);
    assert.match(head, /^x-late: 1\r$/im);
    await client.until(/"status":500/);
    client.socket.destroy();
    await app.close();
    assert.deepEqual(opened, []);
    const errors = records.filter(({ level }) => level === "error");
    assert.deepEqual(errors.map(({ properties }) => (properties.error as Error).message), [
      'Cannot upgrade to a WebSocket: the client has not offered the subprotocol "other"',
    ]);
  }));

test("an upgrade with a control character in a header is a 500, and opens no socket", () =>
  captureLogs(["fw"], async () => {
    await using it = await fixture((c) => c.header("x-control", "\x01"));
    const { app, opened } = it;
    const server = await listen(app);
    using client = await RawClient.connect(server);
    client.send(UPGRADE);
    await client.until(/^HTTP\/1\.1 500 /);
    client.socket.destroy();
    await app.close();
    assert.deepEqual(opened, []);
  }));

testOn(["deno", "node"], "events of Bun have the context of its server")(
  "onOpen runs in the asynchronous context of its handler",
  async () => {
    const users = new AsyncLocalStorage<string>();
    const seen = Promise.withResolvers<string | undefined>();
    class SocketController extends controller() {
      socket = route.get(
        "/socket",
        (_, c) => upgradeWebSocket(c, { onOpen: () => seen.resolve(users.getStore()) }),
      );
    }
    const app = await FwFactory.create(module({ controllers: [SocketController] }));
    app.use((_: Context, next: Next) => users.run("ada", next));
    const server = await listen(app);
    using client = await RawClient.connect(server);
    client.send(UPGRADE);
    assert.equal(await seen.promise, "ada");
    client.socket.destroy();
    await app.close();
  },
);

test("app.request() returns the response of an upgrade, with the status 101", async () => {
  await using it = await fixture();
  const { app, opened } = it;
  const headers = UPGRADE.slice(2).map((line) => line.split(": ") as [string, string]);
  const response = await app.request("/socket", { headers });
  assert.deepEqual([response.status, response.ok, await response.text()], [101, false, ""]);
  assert.equal(opened.length, 0);
});

test("app.fetch upgrades under the server of the runtime, unless the upgrade is replaced", () =>
  captureLogs(["fw"], async () => {
    await using it = await fixture((c) => c.header("x-handler", "1"));
    const { app, opened } = it;
    app.use(async (c: Context, next: Next) => {
      await next();
      if (c.req.query("no") !== undefined) c.res = c.text("refused", 403);
    });
    await using server = await serveBare(app.fetch);
    using refused = await RawClient.connect(server);
    refused.send([UPGRADE[0]!.replace("socket", "socket?no"), ...UPGRADE.slice(1)]);
    await refused.until(/^HTTP\/1\.1 403 /);
    using client = await RawClient.connect(server);
    client.send(UPGRADE);
    await client.until(/^HTTP\/1\.1 101 [^]*x-handler: 1[^]*open$/i);
    assert.equal(opened.length, 1);
    refused.socket.destroy();
    client.socket.destroy();
  }));

test("Hono's own upgradeWebSocket works in a Hono application under app.listen and app.fetch", () =>
  captureLogs(["fw"], async () => {
    const upgrade = await helper();
    await using app = await FwFactory.create(module({}));
    const hono = new Hono().get(
      "/socket",
      upgrade(() => ({ onMessage: ({ data }, socket) => socket.send(data as string) })),
    );
    app.use("/socket", (c: Context) => hono.fetch(c.req.raw, c.env) as Promise<Response>);
    const listening = await listen(app);
    await using bare = await serveBare(app.fetch);
    for (const { port } of [listening, bare]) {
      const client = new WebSocket(`ws://127.0.0.1:${port}/socket`);
      await new Promise((resolve, reject) => {
        client.onopen = resolve;
        client.onerror = reject;
      });
      const answer = new Promise((resolve) => client.onmessage = ({ data }) => resolve(data));
      client.send("hello");
      assert.equal(await answer, "hello");
      const closed = new Promise((resolve) => client.onclose = resolve);
      client.close();
      await closed;
    }
    await app.close();
  }));

test("a deprecated route with a version upgrades, with its headers, also by the helper of Hono", async () => {
  const upgrade = await helper();
  const events = { onOpen: (_: Event, socket: WSContext) => socket.send("open") };
  const options = { openapi: { deprecated: { since: "2026-01-01" } } };
  class SocketController extends controller("", { version: "1" }) {
    own = route.get("/socket", options, (_, c) => upgradeWebSocket(c, events));
    hono = route.get(
      "/hono",
      options,
      async (_, c) =>
        await upgrade(() => ({ onMessage: ({ data }, socket) => socket.send(data as string) }))(
          c,
          async () => {},
        ) as Response,
    );
  }
  await using app = await FwFactory.create(module({ controllers: [SocketController] }));
  app.enableHeaderVersioning({ header: "x-version", defaultVersion: "1" });
  const server = await listen(app);
  using client = await RawClient.connect(server);
  client.send(UPGRADE);
  const [head] = await client.take(/^HTTP\/1\.1 101 [^]*?\r\n\r\n/);
  assert.match(head, /^deprecation: @1767225600\r$/im);
  assert.match(head, /^vary: x-version\r$/im);
  await client.until(/open$/);
  client.socket.destroy();
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/hono`);
  const answer = new Promise((resolve, reject) => {
    socket.onopen = () => socket.send("hello");
    socket.onmessage = ({ data }) => resolve(data);
    socket.onerror = reject;
  });
  assert.equal(await answer, "hello");
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
});

function intercept(replace: (c: Context) => unknown): (app: FwApplication) => void {
  return (app) =>
    app.useGlobalInterceptors(async (c: Context, next: NextHandler) => {
      const response = await next();
      return c.req.path === "/socket" ? replace(c) : response;
    });
}

/** A further request is answered, or the response has announced the end of its connection. */
async function usableOrClosed(client: RawClient, head: string): Promise<void> {
  if (/^connection: close\r$/im.test(head)) return void await client.end();
  client.received = "";
  client.send(["GET /plain HTTP/1.1", "Host: x"]);
  await client.until(/HTTP\/1\.1 200 [^]*\{"plain":true\}/);
}
