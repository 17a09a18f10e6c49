/** The check of responses against a document finds wrong responses. */
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { checkAnswers } from "../../support/check_answers.ts";
import type { Caller, Send } from "../../../src/testing/prove/part.ts";

const nobody: Caller = { name: "nobody", isKnown: false };

const A = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };

/** A document of one operation. */
const DOCUMENT = {
  openapi: "3.1.1",
  info: { title: "Things", version: "1" },
  paths: {
    "/things": {
      post: {
        operationId: "create",
        requestBody: { required: true, content: { "application/json": { schema: A } } },
        responses: {
          200: { description: "It is there", content: { "application/json": { schema: A } } },
          204: { description: "There is nothing to say" },
          400: { description: "It is none" },
          422: { description: "It is wrong" },
          500: { description: "It has failed" },
        },
      },
    },
  },
};

for (
  const [what, answer, message] of [
    [
      "a status that is not documented",
      () => new Response(null, { status: 207 }),
      /POST \/things: status 207 is not documented/,
    ],
    [
      "a body where none is documented",
      () => new Response("a", { status: 400 }),
      /400 has a body, and none is documented/,
    ],
    [
      "a body of another type",
      () => new Response("a", { headers: { "content-type": "text/plain" } }),
      /200 has text\/plain, which is not documented/,
    ],
    [
      "a body of another schema",
      () => Response.json({ a: "1" }),
      /the body of 200 violates its schema/,
    ],
    [
      "no JSON",
      () => new Response("{", { headers: { "content-type": "application/json" } }),
      /the body of 200 is not JSON/,
    ],
    [
      "a refusal of what is valid",
      () => new Response(null, { status: 422 }),
      /a valid request is answered with 422/,
    ],
    [
      "no refusal of what is invalid",
      () => Response.json({ a: 1 }),
      /an invalid request is answered with 200/,
    ],
    [
      "a failure, though documented",
      () => new Response(null, { status: 500 }),
      /the server has failed with 500/,
    ],
  ] satisfies readonly (readonly [string, () => Response, RegExp])[]
) {
  test(`checkAnswers() refuses an application that gives ${what}`, async () => {
    const send: Send = (path) =>
      Promise.resolve(path === "/openapi.json" ? Response.json(DOCUMENT) : answer());
    await assert.rejects(checkAnswers({ send, callers: [nobody], requests: 100 }), message);
  });
}

test("checkAnswers() takes the answers of an application that does as its document says", async () => {
  const send: Send = async (path, { headers, body } = {}) => {
    if (path === "/openapi.json") return Response.json(DOCUMENT);
    const type = new Headers(headers).get("content-type") ?? "";
    if (!/^application\/json(; *charset=utf-8)?$/.test(type)) {
      return new Response(null, { status: 400 });
    }
    const json = await new Response(body).json().catch(() => undefined);
    if (json === undefined) return new Response(null, { status: 400 });
    return typeof json?.a === "number" && !Array.isArray(json)
      ? Response.json({ a: json.a })
      : new Response(null, { status: 422 });
  };
  const { answers, seen } = await checkAnswers({ send, callers: [nobody], requests: 500 });
  assert.equal(answers, 500);
  assert.deepEqual([...seen.get("create") ?? []].sort(), [200, 400, 422]);
});

test("checkAnswers() awaits the first event of streams that are idle once, not for each request", async () => {
  const responses = { 200: { description: "Events", content: { "text/event-stream": {} } } };
  const document = {
    ...DOCUMENT,
    paths: { "/events": { get: { operationId: "events", responses } } },
  };
  let open = 0;
  const events = () => new ReadableStream({ start: () => void open++, cancel: () => void open-- });
  const send: Send = (path, { method } = {}) => {
    if (path === "/openapi.json") return Promise.resolve(Response.json(document));
    const [status, type] = path.startsWith("/events") && method === "GET"
      ? [200, "text/event-stream"]
      : [404, "application/problem+json"];
    const body = status === 200 ? events() : "{}";
    return Promise.resolve(new Response(body, { status, headers: { "content-type": type } }));
  };
  const startMs = performance.now();
  const { answers } = await checkAnswers({ send, callers: [nobody], requests: 50, seed: 1 });
  const ms = performance.now() - startMs;
  assert.deepEqual([answers, open], [50, 0]);
  assert.ok(ms < 10_000, `${ms} ms`); // one waits for a second
});
