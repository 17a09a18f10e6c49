/** What a repetition is answered with: bodies, headers, and what is checked before. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { timeout } from "hono/timeout";
import * as v from "valibot";
import { type Context, controller, route, UnauthorizedException } from "../../../mod.ts";
import { paymentsApp } from "../support/payments_app.ts";
import { test, testOnce } from "../../support/test.ts";

const BYTES = Uint8Array.from({ length: 256 }, (_, i) => i);
/** The tag of the first version. */
const OLD = '"1-0123456789abcdef"';
const Rows = { "~version": "revision" } as const;
/** A body that JSON would make longer than a string of V8 can be. */
const UPLOAD_BYTES = 100 * 1024 * 1024;
let runs = 0;
/** When the first run of `slow` ends: it has been answered without it. */
const answered = Promise.withResolvers<void>();

/** Authenticates a caller as late as an extractor can. */
function bearer(c: Context): string {
  const [, user] = /^Bearer (.+)$/.exec(c.req.header("authorization") ?? "") ?? [];
  if (user === undefined) throw new UnauthorizedException();
  return user;
}

class Answers extends controller("answers") {
  #revision = 1;

  bytes = route.post("/bytes", { idempotent: true }, (_, c) => {
    c.header("x-of-context", "1");
    return new Response(BYTES, {
      status: 202,
      headers: { "content-type": "application/octet-stream", "x-of-response": "2" },
    });
  });
  text = route.post("/text", { idempotent: true }, () => new Response("h\u00e9llo"));
  empty = route.post("/empty", { status: 204, idempotent: true }, () => {});
  none = route.delete("/none", { idempotent: true }, () => undefined);
  cookie = route.post("/cookie", { idempotent: true }, (_, c) => {
    c.header("set-cookie", "session=secret", { append: true });
    return c.json({ ok: true });
  });
  form = route.post("/form", {
    body: v.object({ name: v.string(), file: v.instance(File) }),
    consumes: ["multipart"],
    idempotent: true,
  }, async ({ body }) => ({ run: ++runs, name: body.name, file: await body.file.text() }));
  upload = route.post(
    "/upload",
    { bodyLimit: UPLOAD_BYTES + 1000, idempotent: true },
    async (_, c) => ({ run: ++runs, bytes: (await c.req.arrayBuffer()).byteLength }),
  );
  mine = route.post("/mine", { args: { user: bearer }, idempotent: true }, ({ user }) => user);
  raw = route.post("/raw", { idempotent: true }, async (_, c) => await c.req.json());
  clerks = route.post("/clerks", { roles: ["clerk"], idempotent: true }, () => ({ run: ++runs }));
  wrapped = route.post("/wrapped", {
    interceptors: [async (_, next) => ({ run: ++runs, data: await next() })],
    idempotent: true,
  }, () => "data");
  change = route.put("/row", { etag: Rows, idempotent: true }, ({ version }) => {
    if (version !== undefined && version !== this.#revision) throw new Stale();
    return { revision: ++this.#revision };
  });
  slow = route.post("/slow", { idempotent: true }, async (_, c) => {
    if (++runs > 1) return c.text("in time");
    await answered.promise;
    return c.text("too late");
  });
  read = route.get("/read", () => "read");
  write = route.post("/read", { idempotent: true }, () => "written");
}
class Stale extends Error {
  readonly httpStatus = 409;
  readonly code = "Conflict";
}

/** An application with the routes, and what sends a request with the key `k1`. */
async function answersApp() {
  const app = await paymentsApp("sqlite::memory:", { controllers: [Answers] });
  runs = 0;
  const send = (path: string, init: RequestInit = {}) => {
    const headers = { "idempotency-key": "k1", ...init.headers as Record<string, string> };
    return app.app.request(`/answers${path}`, { method: "POST", ...init, headers });
  };
  return { ...app, send, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

async function partsOf({ status, headers, ...response }: Response, body: Promise<unknown>) {
  void response;
  const { "idempotency-replayed": isReplayed, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, body: await body, isReplayed };
}

test("a repetition has the same bytes, status and headers, of the context and of the response", async () => {
  await using app = await answersApp();
  let count = 0;
  app.app.use(async (c, next) => {
    c.header("x-of-middleware", String(++count));
    await next();
  });
  const answers = [await app.send("/bytes"), await app.send("/bytes")];
  for (const answer of answers) {
    assert.deepEqual(new Uint8Array(await answer.clone().arrayBuffer()), BYTES);
  }
  const [first, again] = await Promise.all(answers.map((it) => partsOf(it, it.text())));
  const headers = { ...first?.headers, "x-of-middleware": "2" }; // that of its own request
  assert.deepEqual(again, { ...first, headers, isReplayed: "true" });
  assert.equal(first?.status, 202);
  const { "content-type": type, "x-of-response": own, "x-of-middleware": before } = first.headers;
  assert.deepEqual([type, own, before], ["application/octet-stream", "2", "1"]);
});

test("a server replays the headers that a handler has set on the context", async () => {
  await using app = await paymentsApp("sqlite::memory:");
  await using server = await app.app.listen(0); // which replaces the class of responses on Node
  const pay = async () => {
    const response = await fetch(new URL("/payments", server.url), {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "k1" },
      body: JSON.stringify({ amount: 10 }),
    });
    await response.body?.cancel();
    return [response.status, response.headers.get("location")];
  };
  assert.deepEqual(await pay(), [201, "/payments/1"]);
  assert.deepEqual(await pay(), [201, "/payments/1"]);
});

test("a repetition of a text, of no content and of an empty answer is the same", async () => {
  await using app = await answersApp();
  for (
    const [path, method, status, body, type] of [
      ["/text", "POST", 200, "h\u00e9llo", "text/plain;charset=utf-8"],
      ["/empty", "POST", 204, "", undefined],
      ["/none", "DELETE", 200, "", undefined],
    ] as const
  ) {
    for (const isReplayed of [undefined, "true"]) {
      const answer = await app.send(path, { method });
      const parts = await partsOf(answer, answer.text());
      const headers = { ...type && { "content-type": type } };
      const lower = parts.headers["content-type"]?.toLowerCase().replace("; ", ";");
      assert.deepEqual(
        { ...parts, headers: { ...parts.headers, ...lower && { "content-type": lower } } },
        { status, headers, body, isReplayed },
      );
    }
  }
});

test("cookies of a handler are not stored; cookies and headers of middleware are of each request", async () => {
  await using app = await answersApp();
  let count = 0;
  app.app.use(async (c, next) => {
    c.header("set-cookie", `visit=${++count}`, { append: true });
    c.header("x-visit", String(count));
    await next();
  });
  const received = async () => {
    const { headers } = await app.send("/cookie");
    return [headers.get("x-visit"), ...headers.getSetCookie()];
  };
  assert.deepEqual(await received(), ["1", "visit=1", "session=secret"]);
  assert.deepEqual(await received(), ["2", "visit=2"]);
});

test("a form is the same request with another boundary", async () => {
  await using app = await answersApp();
  const send = (file: string) => {
    const body = new FormData();
    body.append("name", "ann");
    body.append("file", new File([file], "a.txt", { type: "text/plain" }));
    return app.send("/form", { body });
  };
  const first = await (await send("one")).json();
  assert.deepEqual(first, { run: 1, name: "ann", file: "one" });
  const again = await send("one");
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(await again.json(), first);
  assert.equal((await send("two")).status, 422);
});

test("a form whose content has the text of its boundary is another request", async () => {
  await using app = await answersApp();
  const send = (boundary: string, content: string) => {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="name"\r\n\r\n`;
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    return app.send("/upload", { body: `${head}${content}\r\n--${boundary}--`, headers });
  };
  assert.equal((await send("AAA", "AAA!")).status, 200);
  assert.equal((await send("BBB", "BBB!")).status, 422);
  assert.equal((await send("BBB", "AAA!")).headers.get("idempotency-replayed"), "true");
});

testOnce("a form can be as large as the route allows", async () => {
  await using app = await answersApp();
  const send = (boundary: string) => {
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"\r\n\r\n`;
    const body = new Blob([head, new Uint8Array(UPLOAD_BYTES), `\r\n--${boundary}--`]);
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    return app.send("/upload", { body, headers });
  };
  const first = await (await send("a1")).json();
  assert.equal(first.run, 1);
  assert.deepEqual(await (await send("b22")).json(), first);
}, { slow: true });

test("a caller whom an extractor authenticates gets no answer to another one", async () => {
  await using app = await answersApp();
  const send = (authorization?: string) =>
    app.send("/mine", { headers: { ...authorization && { authorization } } });
  assert.equal(await (await send("Bearer ann")).json(), "ann");
  assert.equal((await send("Bearer ben")).status, 422);
  assert.equal((await send()).status, 422);
  assert.equal(await (await send("Bearer ann")).json(), "ann");
});

test("a handler can read the body from its context", async () => {
  await using app = await answersApp();
  const answer = await app.send("/raw", { body: '{"a":1}' });
  assert.deepEqual(await answer.json(), { a: 1 });
  assert.equal((await app.send("/raw", { body: '{"a":2}' })).status, 422);
});

test("roles are checked before a repetition is answered", async () => {
  await using app = await answersApp();
  const clerk = { "x-subject": "ann", "x-roles": "clerk" };
  assert.equal((await app.send("/clerks", { headers: clerk })).status, 200);
  assert.equal((await app.send("/clerks", { headers: { "x-subject": "ann" } })).status, 403);
  assert.equal((await app.send("/clerks")).status, 401);
  const again = await app.send("/clerks", { headers: clerk });
  assert.deepEqual(await again.json(), { run: 1 });
});

test("what interceptors make of a result is stored, and they do not run again", async () => {
  await using app = await answersApp();
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await (await app.send("/wrapped")).json(), { run: 1, data: "data" });
  }
});

test("If-Match: a repetition has the answer of the change, and another tag is another request", async () => {
  await using app = await answersApp();
  const put = (tag: string) => app.send("/row", { method: "PUT", headers: { "if-match": tag } });
  const first = await put(OLD);
  const tag = first.headers.get("etag") ?? "";
  assert.match(tag, /^"2-/);
  const again = await put(OLD);
  assert.deepEqual([again.status, again.headers.get("etag")], [200, tag]);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.equal((await put(tag)).status, 422);
  const stale = { headers: { "if-match": OLD, "idempotency-key": "k2" }, method: "PUT" };
  assert.equal((await app.send("/row", stale)).status, 412);
});

test("a request that a time limit has answered is rolled back: a repetition runs again", async () => {
  await using app = await answersApp();
  app.app.use("/answers/slow", timeout(2000));
  assert.equal((await app.send("/slow")).status, 504);
  answered.resolve();
  let answer = await app.send("/slow");
  for (; answer.status === 409; answer = await app.send("/slow")) await delay(10); // it still runs
  assert.deepEqual([await answer.text(), runs], ["in time", 2]);
});

test("a request whose answer cannot be prepared uses up no key", async () => {
  await using payments = await paymentsApp("sqlite::memory:");
  payments.app.use(async (c, next) => {
    const { body } = c;
    const failsOnce = () => {
      c.body = body;
      throw new Error("no response");
    };
    if (c.req.header("x-broken")) c.body = failsOnce;
    await next();
  });
  assert.equal((await payments.pay(10, "k1", { "x-broken": "1" })).status, 500);
  assert.equal((await payments.pay(10, "k1")).status, 201);
});

test("other methods of a path need no key", async () => {
  await using app = await answersApp();
  assert.equal(await (await app.app.request("/answers/read")).json(), "read");
  assert.equal((await app.app.request("/answers/read", { method: "HEAD" })).status, 200);
  const options = await app.app.request("/answers/read", { method: "OPTIONS" });
  assert.equal(options.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
});
