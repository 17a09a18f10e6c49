/** The middleware of a project of `fw new`, with shorter limits: what it must not interrupt. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { except } from "hono/combine";
import { secureHeaders } from "hono/secure-headers";
import { streamSSE, streamText } from "hono/streaming";
import { timeout } from "hono/timeout";
import {
  type Context,
  controller,
  FwFactory,
  type HttpServer,
  inject,
  matchedRoute,
  module,
  route,
  upgradeWebSocket,
} from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

const LIMIT_MS = 1000;
const LONGER_MS = 1500;

/** Settles at the end of a test. */
class Released {
  readonly #settled = Promise.withResolvers<string>();
  readonly promise = this.#settled.promise;
  readonly settle = () => this.#settled.resolve("too late");
}

class SlowController extends controller() {
  readonly #released = inject(Released);
  never = route.get("/never", () => this.#released.promise);
  text = route.get("/text", (_, c) =>
    streamText(c, async (stream) => {
      await stream.write("begun, ");
      await delay(LONGER_MS);
      await stream.write("ended");
    }));
  events = route.get("/events", (_, c) =>
    streamSSE(c, async (stream) => {
      await delay(LONGER_MS);
      await stream.writeSSE({ data: "ended" });
    }));
  echo = route.get("/echo", (_, c) =>
    upgradeWebSocket(c, {
      onMessage: async ({ data }, socket) => {
        await delay(LONGER_MS);
        socket.send(String(data));
      },
    }));
  upload = route.post("/upload", { bodyLimit: 2 * 1024 * 1024 }, async (_, c) => {
    return (await c.req.text()).length;
  });
  small = route.post("/small", async (_, c) => (await c.req.text()).length);
}

function isUpload(c: Context): boolean {
  return (matchedRoute(c)?.bodyLimit ?? 0) > 1024 * 1024;
}

async function serving(
  call: (server: HttpServer, released: Released) => Promise<void>,
): Promise<void> {
  await captureLogs(["fw"], async () => {
    const SlowModule = module({ controllers: [SlowController], providers: [Released] });
    await using app = await FwFactory.create(SlowModule);
    app.useTrustedProxy({ hops: 0 })
      .use(secureHeaders(), except(isUpload, timeout(LIMIT_MS)))
      .useRateLimit({ max: 1000 });
    const server = await app.listen(0, { hostname: "127.0.0.1" });
    const released = app.get(Released);
    try {
      await call(server, released);
    } finally {
      released.settle();
    }
  });
}

test("the time limit of a project answers 504 with security headers for a handler that is slow", () =>
  serving(async ({ url }) => {
    const response = await fetch(`${url}/never`);
    const { status, detail } = await response.json();
    assert.deepEqual([response.status, status, detail], [504, 504, "Gateway Timeout"]);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
  }));

test("the time limit of a project does not interrupt streams and events", () =>
  serving(async ({ url }) => {
    const [text, events] = await Promise.all([fetch(`${url}/text`), fetch(`${url}/events`)]);
    assert.equal(text.headers.get("x-content-type-options"), "nosniff");
    assert.equal(await text.text(), "begun, ended");
    assert.equal(await events.text(), "data: ended\n\n");
  }));

test("the middleware of a project does not interrupt WebSockets", () =>
  serving(async ({ url }) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/echo`);
    await once(socket, "open");
    const received = once(socket, "message");
    socket.send("hello");
    const [{ data }] = await received;
    assert.equal(data, "hello");
    const closed = once(socket, "close");
    socket.close();
    await closed;
  }));

test("the time limit of a project applies to bodies, except for those of uploads", () =>
  serving(async ({ url }, released) => {
    const post = async (path: string, rest: Promise<unknown>) => {
      const body = ReadableStream.from(slowBody(rest)).pipeThrough(new TextEncoderStream());
      const init = { method: "POST", body, duplex: "half" } as RequestInit;
      return await fetch(url + path, init);
    };
    const upload = await post("/upload", delay(LONGER_MS));
    assert.deepEqual([upload.status, await upload.json()], [200, 10]);
    const small = await post("/small", released.promise);
    assert.equal(small.status, 504);
    released.settle();
    await small.body?.cancel();
  }));

async function* slowBody(rest: Promise<unknown>): AsyncGenerator<string> {
  yield "begun";
  await rest;
  yield "ended";
}
