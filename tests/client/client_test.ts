import assert from "node:assert/strict";
import { controller, module, route } from "../../mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { type ApiOf, createClient, ProblemError } from "../../src/client/mod.ts";
import * as v from "valibot";
import { test } from "../support/test.ts";
import { createKitchen, type Kitchen, KitchenModule } from "./kitchen.ts";

const app = await createKitchen();
const api = createClient<Kitchen>("http://localhost/api", { fetch: app.fetch });
const BORN = "1970-01-01T00:00:00.000Z";

test("createClient() calls each kind of route, with typed input and data", async () => {
  const cat = await api.get("/v1/cats/:id", { params: { id: 7 } });
  cat.born satisfies string; // a date is sent as text
  assert.deepEqual(cat, { id: 7, name: "Tom", born: BORN });
  assert.deepEqual(
    await api.post("/v1/cats", { body: { name: "Kit", age: 3 } }),
    { id: 3, name: "Kit", born: BORN },
  );
  const replaced = await api.put("/v1/cats/:id", { params: { id: 1n }, body: { name: "Max" } });
  assert.deepEqual(replaced, { name: "Max" });
  assert.deepEqual(
    await api.patch("/v1/cats/:id", { params: { id: "1" }, body: { age: 2 } }),
    { age: 2 },
  );
  const nothing = await api.delete("/v1/cats/:id", { params: { id: 1 } });
  nothing satisfies undefined;
  assert.equal(nothing, undefined);
  assert.equal(await api.get("/"), "hello");
  assert.equal(await api.options("/any"), "OPTIONS");
  assert.equal(await api.post("/any"), "POST");
});

test("createClient() sends queries with numbers and lists, and omits undefined", async () => {
  const query = { take: 20, tag: ["a&b", "c d"], sort: "asc" } as const;
  assert.deepEqual(await api.get("/v1/cats", { query }), { ...query, take: 20 });
  assert.deepEqual(await api.get("/v1/cats", { query: { tag: ["one"] } }), { tag: ["one"] });
  assert.deepEqual(await api.get("/v1/cats"), {});
});

test("createClient() sends forms and files", async () => {
  assert.deepEqual(
    await api.post("/v1/cats/:id/name", { params: { id: 1 }, form: { names: ["a", "b=&"] } }),
    ["a", "b=&"],
  );
  const file = new File(["meow"], "cat.txt");
  assert.equal(
    await api.post("/v1/cats/:id/photo", { params: { id: 1 }, multipart: { file, note: "new" } }),
    "new: meow",
  );
});

test("createClient() omits null, which has no text", async () => {
  const sent: [url: string, x: string | null, body: string][] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    sent.push([request.url, request.headers.get("x"), await request.text()]);
    return Response.json({});
  };
  class NotesController extends controller("notes") {
    list = route.post("/", {
      query: v.object({ n: v.nullish(v.string()), tag: v.array(v.nullable(v.string())) }),
      headers: v.object({ x: v.nullish(v.string()) }),
      body: v.object({ a: v.nullable(v.string()) }),
      consumes: ["form"],
    }, () => ({}));
  }
  const NotesModule = module({ controllers: [NotesController] });
  const notes = createClient<ApiOf<typeof NotesModule>>("http://localhost", { fetch });
  const query = { n: null, tag: ["a", null, "null"] };
  await notes.post("/notes", { query, headers: { x: null }, form: { a: null } });
  const expected = "http://localhost/notes?tag=a&tag=null";
  assert.deepEqual(sent, [[expected, null, ""]]);
});

test("createClient() fills wildcards, optional parameters and those of prefixes", async () => {
  const path = "a/b c/ü?#";
  const got = await api.get("/files/*", { params: { "*": path } });
  assert.equal(decodeURIComponent(String(got)), `/api/files/${path}`);
  assert.deepEqual(await api.get("/pages/:name?"), { name: "index" });
  assert.deepEqual(await api.get("/pages/:name?", { params: { name: "a/b" } }), { name: "a/b" });
  const kittens = { params: { cat: "100%" } };
  assert.deepEqual(await api.get("/v2/cats/:cat/kittens", kittens), ["A kitten of 100%"]);
  assert.deepEqual(await api.get("/v1/cats/:cat/kittens", kittens), ["A kitten of 100%"]);
});

for (const id of ["", ".", "..", "%2e", "%2E%2e"]) {
  test(`createClient() refuses ${JSON.stringify(id)} as a parameter, which changes the path`, async () => {
    await assert.rejects(api.get("/v1/cats/:cat/kittens", { params: { cat: id } }), {
      name: "TypeError",
      message: `Cannot GET /v1/cats/:cat/kittens: params.cat is ${JSON.stringify(id)}`,
    });
    const inside = { params: { "*": `a/${id}/b` } };
    if (id !== "") await assert.rejects(api.get("/files/*", inside), { name: "TypeError" });
  });
}

test("safe() narrows data by its status", async () => {
  const results: unknown[] = [];
  for (const id of [1, 2]) {
    const result = await api.post.safe("/v1/cats/:id/visits", { params: { id } });
    if (result.problem) assert.fail(result.problem.title);
    if (result.status === 200) results.push(result.data.visits satisfies number);
    else results.push(result.data.job satisfies string);
  }
  assert.deepEqual(results, [1, "j"]);
});

test("safe() narrows problems by their status", async () => {
  const details: unknown[] = [];
  for (const id of [9, 10]) {
    const { problem } = await api.get.safe("/v1/cats/:id", { params: { id } });
    if (problem?.status === 410) details.push(problem.since satisfies string);
    else if (problem?.status === 409) details.push(problem.detail);
  }
  assert.deepEqual(details, ["Asleep", "yesterday"]);
  const body = { name: 3 as unknown as string };
  const { problem } = await api.post.safe("/v1/cats", { body });
  if (problem?.status !== 422) assert.fail();
  assert.deepEqual(problem.errors.map(({ in: part, field }) => [part, field]), [["body", "name"]]);
});

test("a call rejects with ProblemError, also where the answer is no problem document", async () => {
  await assert.rejects(api.get("/v1/cats/:id", { params: { id: 9 } }), (error: ProblemError) => {
    assert.ok(error instanceof ProblemError);
    assert.equal(error.message, "Cannot GET /v1/cats/:id: 409 Asleep");
    assert.equal(error.response.status, 409);
    return error.problem.instance === "/api/v1/cats/9";
  });
  await assert.rejects(api.get("/gateway"), (error: ProblemError) => {
    assert.equal(error.problem.status, 502);
    return error.problem.type === "about:blank";
  });
  await assert.rejects(api.get.response("/gateway"), ProblemError);
});

test("response() returns the response unread", async () => {
  const response = await api.get.response("/bytes");
  assert.deepEqual(new Uint8Array(await response.arrayBuffer()), new Uint8Array([1, 2, 3]));
});

test("events() yields server-sent events, and leaving the loop aborts the call", async () => {
  const seen: unknown[] = [];
  for await (const { event, id, data, json } of api.get.events("/ticks")) {
    seen.push([event, id, event === "tick" ? json().count satisfies number : data]);
  }
  assert.deepEqual(seen, [
    ["tick", "1", 1],
    ["tick", "2", 2],
    ["tick", "3", 3],
    ["message", "3", "two\nlines"],
  ]);
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode("data: 1\r\n\r")),
    pull: (stream) => stream.enqueue(new TextEncoder().encode("\ndata: 2\n\n")),
    cancel: () => cancelled.resolve(),
  }, { highWaterMark: 0 });
  const headers = { "content-type": "text/event-stream" };
  const fetch = () => new Response(body, { headers });
  const endless = createClient<Kitchen>("http://a", { fetch });
  for await (const { data } of endless.get.events("/ticks")) {
    assert.equal(data, "1");
    break;
  }
  await cancelled.promise;
});

test("the headers of the client and of the call are sent; a function is called for each attempt", async () => {
  let count = 0;
  const sent: unknown[] = [];
  const tokens = createClient<Kitchen>("http://localhost/api/", {
    fetch(request) {
      sent.push(request.headers.get("x-key"));
      return app.fetch(request);
    },
    headers: () => Promise.resolve({ "x-key": `token ${++count}` }),
  });
  // a schema declares the header, so the caller passes it; it takes precedence
  assert.deepEqual(await tokens.get("/secret", { headers: { "x-key": "own" } }), { key: "own" });
  await tokens.get("/");
  assert.deepEqual(sent, ["own", "token 2"]);
});

test("interceptors wrap each attempt, the first outermost", async () => {
  const order: string[] = [];
  const client = createClient<Kitchen>("http://localhost/api", {
    fetch: app.fetch,
    interceptors: ["a", "b"].map((name) => async (request, next) => {
      order.push(`${name} before`);
      const response = await next(request);
      order.push(`${name} after`);
      return response;
    }),
  });
  await client.get("/");
  assert.deepEqual(order, ["a before", "b before", "b after", "a after"]);
});

/** A client of a server that answers with these statuses, or fails, one after the other. */
function failing(...answers: (number | "fails")[]) {
  const requests: Request[] = [];
  const client = createClient<Kitchen>("http://localhost", {
    retry: 2,
    fetch: (request) => {
      requests.push(request);
      const answer = answers.shift();
      if (typeof answer !== "number") throw new TypeError("connection refused");
      return new Response(null, { status: answer, headers: { "retry-after": "0" } });
    },
  });
  return { client, requests };
}

test("retry repeats calls of idempotent methods that fail for a while", async () => {
  const once = failing(503, "fails", 200);
  await once.client.get("/");
  assert.equal(once.requests.length, 3);
  const often = failing(503, 503, 503, 200);
  await assert.rejects(often.client.get("/"), ProblemError);
  assert.equal(often.requests.length, 3);
  const wrong = failing(500, 200);
  await assert.rejects(wrong.client.get("/"), ProblemError);
  const post = failing("fails", 200);
  await assert.rejects(post.client.post("/any"), /connection refused/);
  const keyed = failing("fails", 200);
  await keyed.client.post("/any", { headers: { "idempotency-key": "k" } });
  assert.equal(keyed.requests.length, 2);
});

test("retry repeats a call that is answered with 409 and Retry-After: one with its key runs", async () => {
  const running = failing(409, 409, 200);
  await running.client.post("/any", { headers: { "idempotency-key": "k" } });
  assert.equal(running.requests.length, 3);
  let calls = 0;
  const conflict = createClient<Kitchen>("http://localhost", {
    retry: 2,
    fetch: () => {
      calls++;
      return new Response(null, { status: 409 });
    },
  });
  const headers = { "idempotency-key": "k" };
  await assert.rejects(conflict.post("/any", { headers }), ProblemError);
  assert.equal(calls, 1);
});

test("timeoutMs ends an attempt without an answer, signal ends a call and its delays", async () => {
  const silent = (request: Request) =>
    new Promise<Response>((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  const client = createClient<Kitchen>("http://localhost", { fetch: silent, timeoutMs: 5 });
  await assert.rejects(client.get("/"), {
    name: "TimeoutError",
    message: "Cannot GET /: no answer in 5 ms",
  });
  const left = new AbortController();
  const call = client.get("/", { signal: left.signal, timeoutMs: 60_000 });
  left.abort(new Error("left"));
  await assert.rejects(call, /left/);
  const waiting = createClient<Kitchen>("http://localhost", {
    retry: 1,
    signal: AbortSignal.timeout(10),
    fetch: () => new Response(null, { status: 503, headers: { "retry-after": "20" } }),
  });
  await assert.rejects(waiting.get("/"), { name: "TimeoutError" });
});

test("retry repeats an attempt whose time limit ended, with its whole body and new headers", async () => {
  const bodies: string[] = [];
  let token = 0;
  const client = createClient<Kitchen>("http://localhost", {
    retry: 1,
    timeoutMs: 30,
    headers: () => ({ "x-token": String(++token) }),
    fetch: async (request) => {
      bodies.push(`${request.headers.get("x-token")} ${await request.text()}`);
      if (bodies.length === 2) return Response.json({ name: "Max" });
      return await new Promise<never>((_, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    },
  });
  const max = await client.put("/v1/cats/:id", { params: { id: 1 }, body: { name: "Max" } });
  assert.deepEqual(max, { name: "Max" });
  assert.deepEqual(bodies, ['1 {"name":"Max"}', '2 {"name":"Max"}']);
});

test("the client of a test application calls the routes below the global prefix", async () => {
  const tested = await createTestApplication(KitchenModule, {
    setUp: (app) => app.setGlobalPrefix("/api/").enableUriVersioning(),
  });
  try {
    const { name } = await tested.client.get("/v1/cats/:id", { params: { id: 7 } });
    assert.equal(name satisfies string, "Tom");
    assert.equal((await tested.request("/api/")).status, 200);
  } finally {
    await tested.close();
  }
});
