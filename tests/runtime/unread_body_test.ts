/** Bodies of requests of which handlers read nothing, or only the beginning. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { controller, FwFactory, module, route } from "../../mod.ts";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { test, testOn } from "../support/test.ts";
import { LOCALHOST } from "./certificate_fixture.ts";
import { RawClient } from "./raw_client.ts";

const MIB = 1024 * 1024;

class UnreadController extends controller() {
  ready = route.get("/ready", () => "ready");
  read = route.post("/read", async (_, c) => ({ length: (await c.req.text()).length }));
  denied = route.post("/denied", { bodyLimit: 64 * MIB, guards: [() => false] }, () => "denied");
  begun = route.post("/begun", { bodyLimit: 64 * MIB }, async (_, c) => {
    await c.req.raw.body?.getReader().read();
    return "begun";
  });
  later = route.post("/later", (_, c) => {
    c.executionCtx.waitUntil(c.req.text().then(({ length }) => this.length.resolve(length)));
    return "later";
  });
  readonly length = Promise.withResolvers<number>();
}

/** Serves with middleware, which could read the body, or without. */
async function serving(
  use: (server: HttpServer, controller: UnreadController) => Promise<void>,
  { hasMiddleware = true, isTls = false } = {},
): Promise<void> {
  await using app = await FwFactory.create(module({ controllers: [UnreadController] }));
  if (hasMiddleware) app.use((_, next) => next());
  await use(
    await app.listen(0, { hostname: "127.0.0.1", ...isTls && { tls: LOCALHOST } }),
    app.get(UnreadController),
  );
}

interface Message {
  readonly bytes: number;
  readonly isChunked?: boolean;
  readonly fields?: readonly string[];
  readonly version?: string;
  readonly isTls?: boolean;
}

/** Returns the head of a request and the text of its body, in its framing. */
function message(
  path: string,
  { bytes, isChunked = false, fields = [], version = "1.1" }: Message,
): [head: string[], body: string] {
  const body = "x".repeat(bytes);
  const head = [`POST ${path} HTTP/${version}`, "Host: x", ...fields];
  return isChunked
    ? [[...head, "Transfer-Encoding: chunked"], `${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`]
    : [[...head, `Content-Length: ${bytes}`], body];
}

for (const place of ["behind", "without"]) {
  testOn(["node", "bun"], "Deno closes the connection")(
    `a body that no handler reads leaves its connection usable ${place} middleware`,
    () =>
      serving(async (server) => {
        for (const path of ["/missing", "/denied", "/begun"]) {
          for (const bytes of [300_000, 3 * MIB]) {
            for (const isChunked of [true, false]) {
              using client = await RawClient.connect(server);
              client.send(...message(path, { bytes, isChunked }));
              const [head] = await client.take(/^HTTP\/1\.1 [^]*?\r\n\r\n/);
              assert.doesNotMatch(head, /^connection: close/im);
              client.send(["GET /ready HTTP/1.1", "Host: x"]);
              await client.until(/"ready"/);
            }
          }
        }
      }, { hasMiddleware: place === "behind" }),
  );
}

const LAST: readonly (readonly [name: string, path: string, message: Message])[] = [
  ["over its limit", "/read", { bytes: 8 * MIB }],
  ["over its limit, in chunks", "/read", { bytes: 8 * MIB, isChunked: true }],
  ["of a guard", "/denied", { bytes: MIB, fields: ["Connection: close"] }],
  ["of no route", "/missing", { bytes: 8 * MIB, fields: ["Connection: close"] }],
  ["over TLS", "/missing", { bytes: 8 * MIB, fields: ["Connection: close"], isTls: true }],
  ["of HTTP/1.0", "/missing", { bytes: 8 * MIB, version: "1.0", fields: ["Connection: close"] }],
];

for (const [name, path, sent] of LAST) {
  testOn(["node", "bun"], "Deno keeps the connection, and reads no more")(
    `the last response of a connection arrives although the body is unread: ${name}`,
    () =>
      serving(async (server) => {
        for (let n = 0; n < 5; n++) {
          using client = await RawClient.connect(server);
          const [head, body] = message(path, sent);
          client.send(head);
          const isSent = new Promise((resolve) => {
            client.socket.write(body, (error) => resolve(!error));
            client.socket.once("close", () => resolve(false));
          });
          const received = await client.end();
          assert.match(received, /^HTTP\/1\.[01] 4(?:13|04|03) [^]*\}$/);
          assert.equal(await isSent, true);
        }
      }, sent),
  );
}

testOn(["node"], "Deno closes the connection, Bun skips bodies itself")(
  "a body that no handler reads may arrive later than its response",
  () =>
    serving(async (server) => {
      using client = await RawClient.connect(server);
      const [head, body] = message("/missing", { bytes: MIB });
      client.send(head, body.slice(0, 300_000));
      await client.take(/^HTTP\/1\.1 404 [^]*\}/);
      await delay(700); // longer than `@hono/node-server` waits
      client.socket.write(body.slice(300_000));
      client.send(["GET /ready HTTP/1.1", "Host: x"]);
      await client.until(/"ready"/);
    }),
);

testOn(["node"], "the others have limits of their own")(
  "the connection of a body that no handler reads is closed if nothing more of it arrives",
  () =>
    serving(async (server) => {
      using client = await RawClient.connect(server);
      const [head] = message("/missing", { bytes: MIB });
      client.send(head, "begun");
      await client.take(/^HTTP\/1\.1 404 [^]*\}/);
      assert.equal(await client.end(), "");
    }),
);

testOn(["node"], "the others do not skip bodies of this length")(
  "a response announces that its connection ends if the body is too long to be skipped",
  () =>
    serving(async (server) => {
      using client = await RawClient.connect(server);
      const [head] = message("/missing", { bytes: 0 });
      client.send([...head.slice(0, -1), `Content-Length: ${65 * MIB}`], "begun");
      await client.take(/^HTTP\/1\.1 404 [^]*^connection: close\r$/im);
      await client.end();
    }),
);

testOn(["deno", "node"], "Bun ends the body with the response")(
  "a handler can read the body after its response",
  () =>
    serving(async (server, { length }) => {
      using client = await RawClient.connect(server);
      const [head, body] = message("/later", { bytes: 1000 });
      client.send(head, body.slice(0, 10));
      await client.until(/"later"/);
      client.socket.write(body.slice(10));
      assert.equal(await length.promise, 1000);
    }),
);

test("a stop does not wait longer than drainMs for a body that no handler reads", () =>
  serving(async (server) => {
    using client = await RawClient.connect(server);
    const [head] = message("/denied", { bytes: MIB, fields: ["Connection: close"] });
    client.send(head, "begun");
    const closed = once(client.socket, "close");
    await client.until(/^HTTP\/1\.1 403 /);
    await server.close({ drainMs: 100 });
    client.socket.destroy();
    await closed;
  }));
