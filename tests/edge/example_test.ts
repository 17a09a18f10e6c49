/** `examples/edge.ts`, bundled, in workerd, with requests over sockets and a D1 database. */
import { Validator } from "@seriousme/openapi-schema-validator";
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "../support/test.ts";
import { Subprocess } from "../support/subprocess.ts";
import { bundle } from "./bundle.ts";
import { Site } from "./site.ts";

const { code } = await bundle('export { default } from "./examples/edge.ts";');

test("the edge example keeps the notes of each caller in D1", async () => {
  await using site = await Site.start(code);
  const added = await site.send("POST /api/v1/notes", { subject: "ada", json: { text: "Tea" } });
  const { noted_at, ...note } = added.body;
  assert.deepEqual([added.status, note], [201, { id: 1, text: "Tea" }]);
  assert.ok(Math.abs(Date.parse(noted_at) - Date.now()) < 60_000);

  const { body: mine } = await site.send("GET /api/v1/notes", { subject: "ada" });
  assert.deepEqual(mine, [{ id: 1, text: "Tea", noted_at }]);
  assert.deepEqual((await site.send("GET /api/v1/notes", { subject: "bob" })).body, []);
  assert.equal((await site.send("GET /api/v1/notes/1", { subject: "ada" })).status, 200);
  assert.equal((await site.send("GET /api/v1/notes/1", { subject: "bob" })).status, 404);
});

test("the edge example refuses a missing or forged token, and invalid input", async () => {
  await using site = await Site.start(code);
  const { status, headers } = await site.send("GET /api/v1/notes");
  assert.deepEqual([status, headers.get("www-authenticate")], [401, "Bearer"]);
  const forged = await site.request("/api/v1/notes", {
    headers: { authorization: "Bearer a.b.c" },
  });
  await forged.text();
  assert.deepEqual(
    [forged.status, forged.headers.get("www-authenticate")],
    [401, 'Bearer error="invalid_token"'],
  );
  const { requestId, ...problem } =
    (await site.send("POST /api/v1/notes", { subject: "ada", json: { text: "" } })).body;
  assert.match(requestId, /^[\da-f-]{36}$/);
  assert.deepEqual(problem, {
    type: "about:blank",
    title: "Unprocessable Content",
    status: 422,
    detail: "The body does not satisfy NewNote",
    instance: "/api/v1/notes",
    errors: [{ in: "body", field: "text", message: "Invalid code points: Expected >=1" }],
  });
});

test("the edge example finishes its work after the response", async () => {
  await using site = await Site.start(code);
  // all at once: without a shared promise, each of the first would create an application
  const answers = await Promise.all(
    Array.from(
      { length: 25 },
      (_, i) => site.send("POST /api/v1/notes", { subject: "ada", json: { text: `Note ${i}` } }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status), Array(25).fill(201));
  const isKept = async (id: number) =>
    (await site.send(`GET /api/v1/notes/${id}`, { subject: "ada" })).status === 200;
  while (await isKept(5)) await delay(10);
  assert.ok(await isKept(6));
});

test("the edge example creates one application for its first concurrent requests", async () => {
  await using process = new Subprocess("tests/edge/first_requests_fixture.ts");
  const { code, output } = await process.ended;
  assert.deepEqual([code, output.trim()], [0, "1 2 3 4 5 6"]);
});

test("the edge example serves its document, page and health", async () => {
  await using site = await Site.start(code);
  const response = await site.request("/openapi.json");
  assert.equal(response.status, 200);
  const { valid, errors } = await new Validator().validate(await response.json());
  assert.ok(valid, JSON.stringify(errors));
  const yaml = await (await site.request("/openapi.yaml")).text();
  assert.match(yaml, /operationId: AppModule\.NotesController\.add/);
  assert.match(await (await site.request("/docs")).text(), /swagger-ui/);
  const health = await (await site.request("/health")).json();
  assert.deepEqual(health, { status: "ok", checks: { db: { status: "up" } } });
  assert.equal((await site.send("GET /nowhere")).status, 404);
});

test("the edge example logs its requests to the console of the Worker", async () => {
  await using site = await Site.start(code);
  await site.send("GET /api/v1/notes", { subject: "ada" });
  await site.worker.logged(/GET \/api\/v1\/notes 200 in [\d.]+ ms/);
});
