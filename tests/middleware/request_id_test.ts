import assert from "node:assert/strict";
import { type Context, Hono } from "hono";
import { FwFactory, module } from "../../mod.ts";
import { requestId, requestIdMiddleware } from "../../src/middleware/request_id.ts";
import { test, testOn } from "../support/test.ts";
import { serve } from "./serve.ts";

const denoTest = testOn(["deno"], "it makes a response for a WebSocket");

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

function echoApp(options?: Parameters<typeof requestIdMiddleware>[0]): Hono {
  return new Hono().use(requestIdMiddleware(options)).get("/", (c) => c.text(`${requestId(c)}`));
}

test("requestId() keeps an incoming id that is valid", async () => {
  for (const id of ["a", "Az09._-", "x".repeat(128), crypto.randomUUID()]) {
    const response = await echoApp().request("/", { headers: { "x-request-id": id } });
    assert.deepEqual([response.headers.get("x-request-id"), await response.text()], [id, id]);
  }
});

test("requestId() replaces an invalid incoming id by a UUID", async () => {
  for (const id of ["", "x".repeat(129), "a b", "a,b", "<script>", "a\u00e9", "{requestId}"]) {
    const response = await echoApp().request("/", { headers: { "x-request-id": id } });
    const header = response.headers.get("x-request-id") ?? "";
    assert.match(header, UUID, id);
    assert.equal(await response.text(), header);
  }
});

test("requestId() is undefined without the middleware", async () => {
  const app = new Hono().get("/", (c) => c.json({ id: requestId(c) ?? null }));
  assert.deepEqual(await (await app.request("/")).json(), { id: null });
});

test("requestIdMiddleware() assigns a different id to each request", async () => {
  const app = echoApp();
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => await (await app.request("/")).text()),
  );
  assert.equal(new Set(ids).size, 20);
});

test("requestIdMiddleware() honours headerName and generator", async () => {
  const app = echoApp({ headerName: "X-Correlation", generator: () => "made" });
  const made = await app.request("/");
  assert.deepEqual([made.headers.get("x-correlation"), await made.text()], ["made", "made"]);
  assert.equal(made.headers.get("x-request-id"), null);
  const kept = await app.request("/", { headers: { "x-correlation": "sent" } });
  assert.deepEqual([kept.headers.get("x-correlation"), await kept.text()], ["sent", "sent"]);
});

test("useRequestId() refuses an invalid header name", async () => {
  const app = await FwFactory.create(module({}));
  assert.throws(() => app.useRequestId({ headerName: "x request" }), {
    name: "TypeError",
    message: 'Cannot use request ids: "x request" is not a header name',
  });
});

test("requestIdMiddleware() sends the id on every kind of response, once, and changes no other part", async () => {
  const origin = new Hono().get("/", (c) => c.text("from afar", 203, { "x-origin": "yes" }));
  const server = await serve(origin);
  const handlers: Record<string, (c: Context) => Response | Promise<Response>> = {
    text: (c) => c.text("text"),
    json: (c) => c.json({}, 201),
    body: () => new Response("raw", { status: 202, headers: { "x-own": "1" } }),
    redirect: (c) => c.redirect("/elsewhere"),
    immutableRedirect: () => Response.redirect("http://localhost/elsewhere", 307),
    empty: () => new Response(null, { status: 204 }),
    immutable: () => fetch(`http://127.0.0.1:${server.port}/`),
    stream: () => new Response(new Blob(["streamed"]).stream()),
    own: () => new Response("own", { headers: { "x-request-id": "handler's" } }),
    error: () => {
      throw new Error("broken");
    },
  };
  const app = new Hono().use(requestIdMiddleware({ generator: () => "id" }));
  app.onError((_, c) => c.text("failed", 500));
  app.notFound(() => new Response("nowhere", { status: 404 }));
  for (const [path, handler] of Object.entries(handlers)) app.get(`/${path}`, handler);

  try {
    const seen: Record<string, unknown> = {};
    for (const path of [...Object.keys(handlers), "missing"]) {
      const response = await app.request(`/${path}`);
      const id = response.headers.get("x-request-id");
      seen[path] = [id, response.status, await response.text()];
    }
    assert.deepEqual(seen, {
      text: ["id", 200, "text"],
      json: ["id", 201, "{}"],
      body: ["id", 202, "raw"],
      redirect: ["id", 302, ""],
      immutableRedirect: ["id", 307, ""],
      empty: ["id", 204, ""],
      immutable: ["id", 203, "from afar"],
      stream: ["id", 200, "streamed"],
      own: ["id", 200, "own"],
      error: ["id", 500, "failed"],
      missing: ["id", 404, "nowhere"],
    });
    const proxied = await app.request("/immutable");
    assert.equal(proxied.headers.get("x-origin"), "yes");
    await proxied.body?.cancel();
  } finally {
    await server.close();
  }
});

test("requestIdMiddleware() sends the id when the not-found handler throws", async () => {
  const app = new Hono().use(requestIdMiddleware({ generator: () => "id" }));
  app.notFound(() => {
    throw new Error("nothing here");
  });
  app.onError((error, c) => c.text(error.message, 404));
  const response = await app.request("/missing");
  assert.deepEqual(
    [response.status, response.headers.get("x-request-id"), await response.text()],
    [404, "id", "nothing here"],
  );
});

test("requestIdMiddleware() does not change a response that cannot have headers", async () => {
  const app = new Hono().use(requestIdMiddleware()).get("/", () => Response.error());
  assert.equal((await app.request("/")).type, "error");
});

test("requestIdMiddleware() handles a handler that returns nothing", async () => {
  const app = new Hono().use(requestIdMiddleware({ generator: () => "id" }));
  app.get("/", (() => undefined) as unknown as () => Response);
  app.onError((_, c) => c.text("failed", 500));
  const response = await app.request("/");
  assert.deepEqual([response.status, response.headers.get("x-request-id")], [500, "id"]);
});

denoTest(
  "requestIdMiddleware() lets a WebSocket through, whose response takes no header",
  async () => {
    const app = new Hono().use(requestIdMiddleware()).get("/", (c) => {
      const { response, socket } = Deno.upgradeWebSocket(c.req.raw);
      socket.onmessage = ({ data }) => socket.send(`${requestId(c) !== undefined} ${data}`);
      return response;
    });
    const server = await serve(app);
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`);
    socket.onopen = () => socket.send("hello");
    const answer = await new Promise((resolve) => {
      socket.onmessage = ({ data }) => resolve(data);
      socket.onerror = () => resolve("failed");
    });
    await new Promise((resolve) => {
      socket.onclose = resolve;
      socket.close();
    });
    await server.close();
    assert.equal(answer, "true hello");
  },
);
