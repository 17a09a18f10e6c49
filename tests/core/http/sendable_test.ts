/** Responses that answer several requests, or that nobody sends. */
import assert from "node:assert/strict";
import type { MiddlewareHandler } from "hono";
import { timeout } from "hono/timeout";
import {
  type Context,
  controller,
  type FwApplication,
  FwFactory,
  module,
  NotFoundException,
  route,
} from "../../../mod.ts";
import { serve } from "../../../src/runtime/listen.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { RawClient, UPGRADE } from "../../runtime/raw_client.ts";

/** Constants without a body, as an application may keep them. */
const CONSTANTS: Readonly<Record<string, Response>> = {
  created: new Response(null, { status: 201, headers: { "x-constant": "yes" } }),
  missing: new Response(null, { status: 404, headers: { "x-constant": "yes" } }),
  empty: new Response(null, { headers: { "x-constant": "yes" } }),
};

/** A body that never ends, and whether it was cancelled. */
class Endless {
  readonly cancelled = Promise.withResolvers<void>();

  response(): Response {
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(new TextEncoder().encode("more")),
      cancel: () => this.cancelled.resolve(),
    }, { highWaterMark: 0 });
    return new Response(body, { headers: { "content-type": "text/plain" } });
  }
}

/** Resolves when as many callers have come as it waits for. */
class Barrier {
  readonly #all = Promise.withResolvers<void>();
  #missing: number;

  constructor(size: number) {
    this.#missing = size;
  }

  pass(): Promise<void> {
    if (--this.#missing === 0) this.#all.resolve();
    return this.#all.promise;
  }
}

interface Case {
  readonly what: string;
  readonly method: string;
  readonly setUp?: (app: FwApplication, endless: Endless) => void;
  readonly expected: number;
}

const CASES: readonly Case[] = [
  { what: "a handler answers HEAD", method: "HEAD", expected: 200 },
  {
    what: "middleware answers HEAD",
    method: "HEAD",
    setUp: (app, endless) => app.use(() => Promise.resolve(endless.response())),
    expected: 200,
  },
  {
    what: "a filter answers HEAD",
    method: "HEAD",
    setUp: (app, endless) =>
      app.useGlobalGuards(() => false).useGlobalFilters(() => endless.response()),
    expected: 200,
  },
  {
    what: "an interceptor fails with the response",
    method: "GET",
    setUp: (app) =>
      app.useGlobalInterceptors(async (_, next) => {
        await next();
        throw new NotFoundException();
      }),
    expected: 404,
  },
  {
    what: "an interceptor fails before the response",
    method: "GET",
    setUp: (app) =>
      app.useGlobalInterceptors((_, next) => {
        void next();
        throw new NotFoundException();
      }),
    expected: 404,
  },
  {
    what: "an interceptor returns data in its place",
    method: "GET",
    setUp: (app) => app.useGlobalInterceptors(async (_, next) => ({ data: await next() })),
    expected: 200,
  },
  {
    what: "a time limit answers first",
    method: "GET",
    setUp: (app) => app.use(timeout(1)),
    expected: 504,
  },
];

for (const { what, method, setUp, expected } of CASES) {
  test(`a body that is not sent is cancelled: ${what}`, async () => {
    const endless = new Endless();
    class EndlessController extends controller() {
      get = route.get("/", async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return endless.response();
      });
    }
    await captureLogs(["fw"], async (records) => {
      await using app = await FwFactory.create(module({ controllers: [EndlessController] }));
      setUp?.(app, endless);
      await using server = await app.listen(0);
      const { status, body } = await fetch(server.url, { method });
      await body?.cancel();
      assert.equal(status, expected);
      await endless.cancelled.promise;
      const failures = records.filter(({ level }) => level === "error");
      assert.deepEqual(
        failures.map(({ properties }) => properties.status),
        expected >= 500 ? [expected] : [],
      );
    });
  });
}

/** Bodies of each kind, of which a client wants the head alone, or leaves. */
const BODIES: Readonly<Record<string, () => BodyInit>> = {
  text: () => "x".repeat(1000),
  fields: () => formOf({ a: "1", b: "2" }),
  file: () =>
    formOf({ a: "1", file: new File(Array(2000).fill("x".repeat(10_000)), "a.txt"), b: "2" }),
  blob: () => new Blob(["x".repeat(5_000_000)]),
  parameters: () => new URLSearchParams("a=1"),
  generator: () => ReadableStream.from(chunks()),
};

function formOf(entries: Readonly<Record<string, string | File>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(entries)) form.append(name, value);
  return form;
}

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 50; i++) {
    yield new Uint8Array(65_536);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test("a body of any kind that is not sent, or not to its end, leaves the server alive", () =>
  captureLogs(["fw"], async (records) => {
    const respond = (_: unknown, c: Context) => new Response(BODIES[c.req.param("kind")!]!());
    class KindsController extends controller() {
      get = route.get("/:kind", respond);
      failing = route.get("/failing/:kind", respond);
    }
    await using app = await FwFactory.create(module({ controllers: [KindsController] }));
    app.use("/failing/*", async (_, next) => {
      await next();
      throw new NotFoundException();
    });
    const server = await app.listen(0, { hostname: "127.0.0.1" });
    for (const kind of Object.keys(BODIES)) {
      const head = await fetch(`${server.url}/${kind}`, { method: "HEAD" });
      assert.deepEqual([head.status, await head.text()], [200, ""], kind);
      const failed = await fetch(`${server.url}/failing/${kind}`);
      assert.deepEqual([failed.status, (await failed.json()).status], [404, 404], kind);
      for (const headers of [[], UPGRADE.slice(2)]) {
        using client = await RawClient.connect(server);
        client.send([`GET /${kind} HTTP/1.1`, "Host: x", ...headers]);
        await client.until(/^HTTP/);
        client.socket.resetAndDestroy();
      }
      const whole = await fetch(`${server.url}/${kind}`);
      assert.equal((await whole.bytes()).length > 0, true, kind);
    }
    assert.deepEqual(records.filter(({ level }) => level === "error"), []);
  }));

test("a constant response without a body keeps no cookie of a caller", () =>
  captureLogs(["fw"], async () => {
    class ConstantController extends controller() {
      get = route.get("/:name", (_, c) => CONSTANTS[c.req.param("name")!]!);
      fail = route.get("/filtered/:name", {
        filters: [(_, c) => CONSTANTS[c.req.param("name")!]!],
      }, () => {
        throw new NotFoundException();
      });
    }
    await using app = await FwFactory.create(module({ controllers: [ConstantController] }));
    app.use(async (c, next) => {
      await next();
      c.res.headers.append("set-cookie", `id=${c.req.query("id")}`);
    });
    await using server = await app.listen(0);
    for (const prefix of ["", "filtered/"]) {
      for (const [name, { status }] of Object.entries(CONSTANTS)) {
        for (const id of ["ada", "bob", "eve"]) {
          const response = await fetch(`${server.url}/${prefix}${name}?id=${id}`);
          assert.deepEqual([response.status, await response.text()], [status, ""]);
          assert.deepEqual(response.headers.getSetCookie(), [`id=${id}`]);
          assert.equal(response.headers.get("x-constant"), "yes");
        }
      }
    }
  }));

class RootController extends controller() {
  get = route.get("/", () => "never");
}

/** The reasons why a response that is kept is refused. */
const REFUSED =
  /^TypeError: Cannot send the response: (its body has been read|it was sent to another request)$/;

/** Where an application can answer with a response that it keeps. */
const PLACES: Readonly<Record<string, (app: FwApplication, kept: Response) => unknown>> = {
  "a filter": (app, kept) => app.useGlobalGuards(() => false).useGlobalFilters(() => kept),
  middleware: (app, kept) => app.use("/", () => Promise.resolve(kept)),
  "an interceptor": (app, kept) => app.useGlobalInterceptors(() => kept),
};

for (const [place, keep] of Object.entries(PLACES)) {
  test(`nobody gets the cookies of others from a response with a body that ${place} keeps`, () =>
    captureLogs(["fw"], async (records) => {
      await using app = await FwFactory.create(module({ controllers: [RootController] }));
      app.use(async (c, next) => {
        await next();
        c.header("set-cookie", `user=${c.req.header("x-user")}`, { append: true });
      });
      keep(app, new Response("Busy", { status: 503 }));
      await using server = await app.listen(0);
      for (const method of ["GET", "HEAD", "HEAD", "GET", "HEAD"]) {
        const user = crypto.randomUUID();
        const response = await fetch(server.url, { method, headers: { "x-user": user } });
        const text = await response.text();
        const cookies = response.headers.getSetCookie();
        assert.deepEqual(cookies.filter((cookie) => cookie !== `user=${user}`), [], method);
        if (response.status === 500) continue;
        assert.deepEqual([response.status, text], [503, method === "HEAD" ? "" : "Busy"]);
      }
      const messages = records.filter(({ level }) => level === "error")
        .map(({ properties: { error } }) => String(error));
      assert.ok(messages.length > 0 && messages.every((message) => REFUSED.test(message)), place);
    }));
}

/** Creates a response; `url` is that of a server that answers with `shared`. */
type Respond = (c: Context, url: string) => Response | Promise<Response>;

/** Responses with a body, as concurrent requests can wait for one of them, and its text. */
const SHARED: Readonly<Record<string, readonly [respond: Respond, text: string]>> = {
  text: [(c) => c.text("shared"), "shared"],
  "a plain text": [() => new Response("shared"), "shared"],
  "a text with headers": [() => new Response("shared", { headers: { "x-a": "b" } }), "shared"],
  json: [() => Response.json("shared"), '"shared"'],
  bytes: [() => new Response(new TextEncoder().encode("shared")), "shared"],
  "a blob": [() => new Response(new Blob(["shared"])), "shared"],
  "a stream": [() => new Response(new Blob(["shared"]).stream()), "shared"],
  "a redirection with a text": [
    () => new Response("shared", { status: 303, headers: { location: "/" } }),
    "shared",
  ],
  "a fetched response": [(_, url) => fetch(url), "shared"],
};

for (const [what, [respond, text]] of Object.entries(SHARED)) {
  test(`of concurrent requests, only the first gets a response with a body: ${what}`, () =>
    captureLogs(["fw"], async (records) => {
      await using source = await serve(() => new Response("shared"), { port: 0 });
      const users = ["ada", "bob", "eve"];
      const handled = new Barrier(users.length);
      const answered = new Barrier(users.length);
      let pending: Promise<Response> | undefined;
      class SharedController extends controller() {
        get = route.get("/", (_, c) => {
          const all = handled.pass();
          return pending ??= all.then(() => respond(c, source.url));
        });
      }
      await using app = await FwFactory.create(module({ controllers: [SharedController] }));
      app.use(async (c, next) => {
        await next();
        c.res.headers.append("set-cookie", `user=${c.req.query("user")}`);
        await answered.pass(); // the others come before the first response leaves
      });
      await using server = await app.listen(0);
      const methods = ["GET", "GET", "HEAD"];
      const responses = await Promise.all(
        users.map((user, i) =>
          fetch(`${server.url}/?user=${user}`, { method: methods[i]!, redirect: "manual" })
        ),
      );
      const texts = await Promise.all(responses.map((response) => response.text()));
      for (const [i, { headers }] of responses.entries()) {
        assert.deepEqual(headers.getSetCookie(), [`user=${users[i]}`]);
      }
      const isRefused = responses.map(({ status }) => status === 500);
      assert.equal(isRefused.filter(Boolean).length, 2);
      const first = isRefused.indexOf(false);
      assert.equal(
        texts[first],
        methods[first] === "HEAD" ? "" : text,
      );
      const errors = records.filter(({ level }) => level === "error");
      assert.deepEqual(errors.map(({ properties }) => REFUSED.test(String(properties.error))), [
        true,
        true,
      ]);
    }));
}

for (const [what, [respond, text]] of Object.entries(SHARED)) {
  test(`an application answers with the response of another one, or of its own: ${what}`, () =>
    captureLogs(["fw"], async () => {
      await using source = await serve(() => new Response("shared"), { port: 0 });
      class InnerController extends controller() {
        get = route.get("/inner", (_, c) => respond(c, source.url));
        none = route.get("/none", () => CONSTANTS.empty!);
      }
      const pathOf = (c: Context) => `/inner?id=${c.req.query("id")}`;
      await using inner = await FwFactory.create(module({ controllers: [InnerController] }));
      const setsCookie: MiddlewareHandler = async (c, next) => {
        await next();
        c.res.headers.append("set-cookie", `${c.req.query("id")}=1`); // in place
      };
      inner.use(setsCookie);
      class OuterController extends controller() {
        ofAnother = route.get("/inner", (_, c) => inner.fetch(c.req.raw, c.env));
        none = route.get("/none", (_, c) => inner.fetch(c.req.raw, c.env));
        requested = route.get("/requested", (_, c) => inner.request(pathOf(c)));
        own = route.get("/own", (_, c) => app.request(pathOf(c)));
      }
      const app = await FwFactory.create(module({ controllers: [OuterController] }));
      app.use(setsCookie);
      await using server = await app.listen(0);
      for (const path of ["inner", "requested", "own", "none"]) {
        for (const id of ["a", "b"]) {
          const response = await fetch(`${server.url}/${path}?id=${id}`, { redirect: "manual" });
          assert.equal(await response.text(), path === "none" ? "" : text, path);
          const cookies = response.headers.getSetCookie();
          assert.deepEqual(cookies, Array(path === "own" ? 3 : 2).fill(`${id}=1`), path);
        }
      }
      await app.close();
    }));
}

test("bytes and texts keep their length", () =>
  captureLogs(["fw"], async () => {
    class LengthController extends controller() {
      bytes = route.get("/bytes", () => new Response(new Uint8Array(5)));
      text = route.get("/text", () => new Response("hello", { headers: { "x-a": "b" } }));
      fail = route.get("/filtered", { filters: [() => new Response("hello")] }, () => {
        throw new NotFoundException();
      });
    }
    await using app = await FwFactory.create(module({ controllers: [LengthController] }));
    await using server = await app.listen(0);
    for (const path of ["bytes", "text", "filtered"]) {
      const response = await fetch(`${server.url}/${path}`);
      assert.equal(response.headers.get("content-length"), "5", path);
      await response.body?.cancel();
    }
  }));
