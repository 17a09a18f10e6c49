/** Routes without a context answer as those with one do. */
import assert from "node:assert/strict";
import * as v from "valibot";
import {
  BadRequestException,
  type Context,
  controller,
  type FwApplication,
  FwFactory,
  module,
  NotFoundException,
  route,
} from "../../../mod.ts";
import { takesInputOnly } from "../../../src/core/route/direct/input_only.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { RawClient } from "../../runtime/raw_client.ts";
import { RUNTIME } from "../../runtime/runtime_name.ts";

/** Whether a handler was called without a context. */
const isDirect = () => new Error().stack?.includes("direct_route.ts");

const Whole = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number));
const Order = v.object({ name: v.pipe(v.string(), v.minLength(2)), tags: v.array(v.string()) });
const OK = new Response(null, { status: 202 });

class ThingsController extends controller("things") {
  how = route.get("/how", () => ({ isDirect: isDirect() }));
  howPosted = route.post("/how", { body: Order }, ({ body }) => [isDirect(), body]);
  howWithContext = route.get("/context", (_, c) => [isDirect(), c.req.path]);
  postedWithContext = route.post("/context", (_, c) => [isDirect(), c.req.path]);
  one = route.get("/one/:id", { params: v.object({ id: Whole }) }, ({ params }) => params);
  raw = route.get("/raw/:a/:b", ({ params }) => params);
  query = route.get("/query", {
    query: v.object({ tag: v.optional(v.union([v.string(), v.array(v.string())])), n: Whole }),
    headers: v.object({ "x-color": v.optional(v.string()) }),
    response: v.object({ tag: v.unknown(), color: v.optional(v.string()), n: v.number() }),
  }, ({ query: { tag, n }, headers }) => ({ tag, n, color: headers["x-color"], more: 1 }));
  both = route.put("/both/:id", {
    params: v.object({ id: Whole }),
    body: Order,
    bodyLimit: 100,
    status: 201,
  }, ({ params, body }) => ({ ...params, ...body }));
  later = route.get(
    "/later",
    { response: v.objectAsync({ a: v.number() }) },
    async () => await Promise.resolve({ a: 1, b: 2 }),
  );
  remove = route.delete("/:id", { status: 204 }, () => "nothing");
  nothing = route.get("/nothing", () => undefined);
  constant = route.get("/constant", () => OK);
  created = route.get("/created", () => Response.json({ a: 1 }, { status: 201 }));
  missing = route.get("/missing", () => NotFoundException.throw("No such thing"));
  broken = route.get("/broken", () => {
    throw new Error("secret");
  });
  rejected = route.get("/rejected", () => Promise.reject(new BadRequestException("Not this")));
  mismatch = route.get("/mismatch", { response: v.object({ a: v.number() }) }, () => {
    return { a: "no" } as unknown as { a: number };
  });
  unsent = route.get("/unsent", () => () => {});
  filtered = route.get("/filtered", {
    filters: [(error, c) => c.json({ path: c.req.path, message: String(error) }, 418)],
  }, () => {
    throw new RangeError("for the filter");
  });
  hidden = route.get("/hidden", { filters: [(_, c) => c.notFound()] }, () => {
    throw new RangeError("for the filter");
  });
  found = route.get("/found/:id", ({ params }, c) => {
    c.header("x-id", params.id);
    c.status(203);
    return { path: c.req.path, id: c.req.param("id"), query: c.req.query() };
  });
  unfound = route.get("/unfound", (_, c) => c.notFound() as Promise<Response>);
  texts = route.get("/text", (_, c) => c.text("plain"));
  failed = route.get("/failed", {
    filters: [(error, c) => c.json({ was: c.get("was"), message: String(error) }, 418)],
  }, (_, c) => {
    c.set("was", c.req.query("was"));
    throw new RangeError("for the filter");
  });
  lost = route.get("/lost", async (_, c) => {
    c.header("x-lost", await Promise.resolve("1"));
    throw new NotFoundException("No such thing");
  });
  guarded = route.get("/guarded", { guards: [(c) => c.req.query("ok") === "1"] }, () => "yes");
  tagged = route.get("/tagged", { etag: { "~version": "n" } }, () => ({ n: 1 }));
  changed = route.put("/tagged", { etag: { "~version": "n" }, body: Order }, ({ version }) => {
    return { n: (version ?? 0) + 1 };
  });
  old = route.get("/old", { openapi: { deprecated: true } }, () => "old");
}

function created(): Promise<FwApplication> {
  return FwFactory.create(module({ name: "Things", controllers: [ThingsController] }));
}

interface Row {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const JSON_BODY = { "content-type": "application/json" };
const GOOD = JSON.stringify({ name: "ab", tags: ["c"] });

const GETS: readonly Row[] = [
  "/one/7",
  "/one/7/",
  "/one/x",
  "/one/7?unused=1",
  "/one/%37",
  "/raw/a%2Fb/%C3%BC",
  "/raw/%zz/%25",
  "/raw/:a/*",
  "/query?n=1",
  "/query?n=1&tag=a",
  "/query?n=1&tag=a&tag=b",
  "/query?n=x",
  "/query",
  "/later",
  "/nothing",
  "/constant",
  "/created",
  "/missing",
  "/broken",
  "/rejected",
  "/mismatch",
  "/unsent",
  "/filtered",
  "/hidden",
  "/found/7?a=b",
  "/found/%2F/",
  "/unfound",
  "/text",
  "/failed?was=here",
  "/lost",
  "/guarded",
  "/guarded?ok=1",
  "/tagged",
  "/old",
  "/unknown",
  "/",
].map((path) => ({ path }));

const OTHERS: readonly Row[] = [
  ...["HEAD", "OPTIONS", "POST", "DELETE"].map((method) => ({ method, path: "/one/7" })),
  { path: "/query?n=1", headers: { "x-color": "red" } },
  { method: "HEAD", path: "/created" },
  { method: "HEAD", path: "/tagged" },
  { path: "/tagged", headers: { "if-none-match": "*" } },
  ...["*", '"7-aaaaaaaaaaaaaaaa"', '"7"', "7", undefined].map((match) => ({
    method: "PUT",
    path: "/tagged",
    headers: { ...JSON_BODY, ...match && { "if-match": match } },
    body: GOOD,
  })),
  { method: "DELETE", path: "/7" },
  { method: "DELETE", path: "/7", headers: JSON_BODY, body: GOOD },
  ...[
    GOOD,
    "",
    "{",
    "[]",
    "null",
    '{"name":"a","tags":[1]}',
    `{"name":"${"x".repeat(200)}","tags":[]}`,
    "\xff",
  ].map((body) => ({ method: "PUT", path: "/both/7", headers: JSON_BODY, body })),
  { method: "PUT", path: "/both/x", headers: JSON_BODY, body: "[]" },
  ...["text/plain", "application/json; charset=utf-8", "application/json; charset=utf-16", ""]
    .map((type) => ({
      method: "PUT",
      path: "/both/7",
      headers: { "content-type": type },
      body: GOOD,
    })),
  {
    method: "PUT",
    path: "/both/7",
    headers: { ...JSON_BODY, "content-encoding": "gzip" },
    body: GOOD,
  },
];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function answerOf(
  app: FwApplication,
  { method = "GET", path, headers = {}, body }: Row,
): Promise<Answer> {
  const response = await app.request(`/things${path}`, {
    method,
    headers: { ...headers, ...body !== undefined && { "content-length": `${body.length}` } },
    ...body !== undefined && { body },
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

test("a route without a context answers as with one", () =>
  captureLogs(["fw"], async () => {
    const direct = (await created()).enableHealthCheck("/health").enableOpenApi();
    const general = (await created()).use(async (_, next) => await next());
    assert.equal((await answerOf(direct, { path: "/how" })).body, '{"isDirect":true}');
    assert.equal((await answerOf(general, { path: "/how" })).body, '{"isDirect":false}');
    const posted = { method: "POST", path: "/how", headers: JSON_BODY, body: GOOD };
    if (RUNTIME !== "bun") { // which has no frames of callers that wait
      assert.equal((await answerOf(direct, posted)).body, `[true,${GOOD}]`);
    }
    assert.equal((await answerOf(general, posted)).body, `[false,${GOOD}]`);
    assert.equal((await answerOf(direct, { path: "/context" })).body, '[true,"/things/context"]');
    assert.equal(
      (await answerOf(direct, { method: "POST", path: "/context" })).body,
      '[false,"/things/context"]', // it could read the body
    );
    const statuses = new Set<number>();
    for (const row of [...GETS, ...OTHERS, ...GETS]) {
      const expected = await answerOf(general, row);
      assert.deepEqual(await answerOf(direct, row), expected, JSON.stringify(row));
      statuses.add(expected.status);
    }
    assert.deepEqual(
      [...statuses].sort((a, b) => a - b),
      [200, 201, 202, 203, 204, 304, 400, 403, 404, 405, 412, 413, 415, 418, 422, 428, 500],
    );
  }));

test("a route without a context answers over a socket as with one", () =>
  captureLogs(["fw"], async () => {
    const [direct, general] = [await created(), await created()];
    general.use(async (_, next) => await next());
    await using first = await direct.listen(0, { hostname: "127.0.0.1" });
    await using second = await general.listen(0, { hostname: "127.0.0.1" });
    const put = ["PUT /things/both/7 HTTP/1.1", "Host: x", "Content-Type: application/json"];
    const rows: readonly (readonly [lines: readonly string[], body: string])[] = [
      [["GET /things/one/7 HTTP/1.1", "Host: x"], ""],
      [["GET /things/one/7 HTTP/1.1", "Host: x", "Content-Length: 4"], "body"],
      [["GET /things/nothing HTTP/1.1", "Host: x"], ""],
      [[...put, `Content-Length: ${GOOD.length}`], GOOD],
      [[...put, "Content-Length: 101"], `${GOOD}${" ".repeat(101 - GOOD.length)}`],
      [
        [...put, "Transfer-Encoding: chunked"],
        `${GOOD.length.toString(16)}\r\n${GOOD}\r\n0\r\n\r\n`,
      ],
      [[...put, "Content-Length: 1"], "{"],
      [[...put.slice(0, 2), "Content-Length: 2"], "{}"],
      [[...put, "Content-Type: text/plain", `Content-Length: ${GOOD.length}`], GOOD],
    ];
    for (const [lines, body] of rows) {
      const answers: string[] = [];
      for (const server of [first, second]) {
        using client = await RawClient.connect(server);
        client.send([...lines, "Connection: close"], body);
        const answer = (await client.end()).replace(/^date: .*\r\n/im, "");
        // Node spells it both ways
        answers.push(answer.replace(/^content-length/im, "content-length"));
      }
      assert.match(answers[0] ?? "", /^HTTP\/1\.1 [2-4]\d\d /);
      assert.equal(answers[0], answers[1], lines.join());
    }
    await direct.close();
    await general.close();
  }));

test("a route is dispatched by Hono where middleware matches its path", async () => {
  const app = (await created()).use("/things/one/*", async (c, next) => {
    await next();
    c.header("x-seen", "yes");
  });
  const one = await app.request("/things/one/7");
  assert.equal(one.headers.get("x-seen"), "yes");
});

class TouchController extends controller("touch") {
  own = route.post("/own", {
    filters: [async (_, c) => c.text(`own ${(await c.req.text()).length}`, 418)],
  }, () => NotFoundException.throw());
  whole = route.post("/whole", () => NotFoundException.throw());
  json = route.post("/json", { body: Order }, ({ body }) => body);
}

test("a filter that reads the body is limited, and reads what its route has read", () =>
  captureLogs(["fw"], async () => {
    const app = await FwFactory.create(module({ name: "Touch", controllers: [TouchController] }));
    app.useBodyLimit(1000).useGlobalFilters(async (error, c) => {
      const text = await c.req.text();
      return error instanceof NotFoundException || text === "{}"
        ? c.text(`global ${text.length}`, 418)
        : undefined;
    });
    const chunked = (length: number) => ({
      method: "POST",
      headers: JSON_BODY,
      body: new Blob(["x".repeat(length)]).stream(),
      duplex: "half",
    } as RequestInit);
    const answers: unknown[] = [];
    for (const name of ["own", "whole"]) {
      for (const length of [900, 2000]) {
        const response = await app.request(`/touch/${name}`, chunked(length));
        answers.push(response.status === 418 ? await response.text() : response.status);
      }
    }
    assert.deepEqual(answers, ["own 900", 413, "global 900", 413]);
    const refused = await app.request("/touch/json", { json: {} });
    assert.equal(await refused.text(), "global 2");
  }));

class HeadsController extends controller("heads") {
  any = route.all("/", (_, c) => c.text("any", 418));
  one = route.get("/", () => "one");
}

test("HEAD is answered by the GET route of a path, not by that of all methods", async () => {
  const app = await FwFactory.create(module({ controllers: [HeadsController] }));
  const statuses = ["GET", "HEAD", "POST"].map(async (method) =>
    (await app.request("/heads", { method })).status
  );
  assert.deepEqual(await Promise.all(statuses), [200, 200, 418]);
});

test("a request to an inner application has its own headers, whatever its bindings", async () => {
  const inner = await created();
  const request = new Request("http://localhost/things/both/7", {
    method: "PUT",
    headers: { "content-type": "text/plain", "content-length": `${GOOD.length}` },
    body: GOOD,
  });
  const incoming = {
    headers: { "content-type": "application/json", "content-length": `${GOOD.length}` },
  };
  assert.equal((await inner.fetch(request, { incoming })).status, 415);
});

/** Bodies of requests that middleware or a proxy has created. */
const CREATED: Readonly<Record<string, () => BodyInit>> = {
  text: () => GOOD,
  bytes: () => new TextEncoder().encode(GOOD),
  "a blob": () => new Blob([GOOD]),
  "a stream": () => new Blob([GOOD]).stream(),
};

test("a body of a request that was not received is read whole, also once an application listens", async () => {
  const app = await created();
  await using _server = await app.listen(0, { hostname: "127.0.0.1" });
  const put = (body: BodyInit, length: number) =>
    new Request("http://localhost/things/both/7", {
      method: "PUT",
      headers: { ...JSON_BODY, "content-length": `${length}` },
      body,
      duplex: "half",
    } as RequestInit);
  const statusOf = async (request: Request) => (await app.fetch(request)).status;
  for (const [what, body] of Object.entries(CREATED)) {
    const request = put(body(), GOOD.length);
    const clone = request.clone();
    const copy = new Request(request);
    assert.equal(await statusOf(copy), 201, what);
    assert.equal(copy.bodyUsed, true, what);
    assert.equal(await statusOf(clone), 201, `${what}, cloned`);
  }
  assert.equal(await statusOf(put("", 0)), 422);
  assert.equal(await statusOf(put("{", 1)), 400);
  await app.close();
});

test("takesInputOnly() finds handlers that cannot receive the context", () => {
  const outer: unknown[] = [];
  const yes = [
    () => 1,
    async () => await 1,
    (input: unknown) => input,
    ({ a }: { a: number }) => ({ ...{ a } }),
    async ({ a, b: c }: { a: number; b: number }) => await (a + c),
    ({ a: { b, c: d }, e }: { a: { b: number; c: number }; e: number }) => [b, d, e],
  ];
  const no = [
    (input: unknown, c: unknown) => [input, c],
    (...all: unknown[]) => all,
    (input: unknown, c = outer) => [input, c],
    ({ a = 1 }: { a?: number }) => a,
    ({ a: { b = outer } }: { a: { b?: unknown } }) => b,
    ({ a }: { a: unknown }, { req }: Context) => [a, req],
    ({ a: { b } }: { a: { b: unknown } }, { req }: Context) => [b, req],
    ({ a: { b: { c } } }: { a: { b: { c: unknown } } }) => c,
    ({ ...rest }: object) => rest,
    function () {
      return arguments;
    },
    function (this: unknown) {
      return this;
    }.bind(outer),
    Math.max,
  ];
  assert.deepEqual(yes.map(takesInputOnly), yes.map(() => true));
  assert.deepEqual(no.map(takesInputOnly), no.map(() => false));
});
