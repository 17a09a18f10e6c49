import assert from "node:assert/strict";
import { appModule, Db, setUp } from "../../examples/users.ts";
import type { FwApplication } from "../../mod.ts";
import type { RequestOptions } from "../../mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { issuer } from "../oauth2/issuer.ts";
import { fetchDocument } from "../support/check_answers.ts";
import { test } from "../support/test.ts";

const USERS = "/api/v1/users/";

interface User {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly active: boolean;
}

function users(): Promise<FwApplication> {
  return createTestApplication(appModule("sqlite::memory:"), { setUp });
}

async function create(app: FwApplication, email: string, name = "Tom"): Promise<User> {
  const response = await app.request(USERS, { json: { email, name } });
  assert.equal(response.status, 201);
  return await response.json();
}

const patch = (json: unknown): RequestOptions => ({ method: "PATCH", json });

test("create responds 201 with the row and its Location", async () => {
  await using app = await users();
  const response = await app.request(USERS, { json: { email: "tom@example.com", name: "Tom" } });
  const row = await response.json();
  assert.equal(response.status, 201);
  assert.deepEqual(row, { id: row.id, email: "tom@example.com", name: "Tom", active: true });
  assert.equal(response.headers.get("location"), `/api/v1/users/${row.id}`);
  const found = await app.request(`/api/v1/users/${row.id}`);
  assert.deepEqual([found.status, await found.json()], [200, row]);
});

for (
  const [length, accepted] of [[1, false], [2, true], [80, true], [81, false]] as const
) {
  test(`a name of ${length} emoji is ${accepted ? "accepted" : "refused"}, as the OpenAPI document declares`, async () => {
    await using app = await users();
    const name = "\u{1F408}".repeat(length); // a cat: two units of UTF-16, one code point
    const json = { email: "tom@example.com", name };
    const response = await app.request(USERS, { json });
    assert.equal(response.status, accepted ? 201 : 422);
    const { id } = await create(app, "kim@example.com");
    const changed = await app.request(`${USERS}${id}`, patch({ name }));
    assert.equal(changed.status, accepted ? 200 : 422);
    using document = await fetchDocument((path) => app.request(path));
    const bodyOf = (method: string, path: string) =>
      document.operationAt(method, path)?.body?.content?.get("application/json");
    assert.equal(bodyOf("POST", USERS)?.holds(json), accepted);
    assert.equal(bodyOf("PATCH", `${USERS}${id}`)?.holds({ name }), accepted);
  });
}

test("a created user has the placeholder tenant, and no response shows it", async () => {
  await using app = await users();
  const { id } = await create(app, "tom@example.com");
  const stored = await app.get(Db).user.findUnique({ where: { id } });
  assert.equal(stored?.tenant_id, "demo");
});

test("unknown keys of a body are never stored", async () => {
  await using app = await users();
  const json = { email: "tom@example.com", name: "Tom", id: 99, tenant_id: "evil", active: false };
  const response = await app.request(USERS, { json });
  const row = await response.json();
  assert.notEqual(row.id, 99);
  assert.equal(row.active, true);
  await app.request(
    `${USERS}${row.id}`,
    patch({ name: "Tim", tenant_id: "evil", email: "x@x.xx" }),
  );
  const stored = await app.get(Db).user.findUnique({ where: { id: row.id } });
  assert.deepEqual(stored, {
    id: row.id,
    tenant_id: "demo",
    email: "tom@example.com",
    name: "Tim",
    active: true,
  });
});

test("list responds with an array, X-Total-Count, and a Link to the next page if there is one", async () => {
  await using app = await users();
  for (let i = 0; i < 5; i++) await create(app, `user${i}@example.com`);
  const emails: string[] = [];
  let next: string | undefined = `${USERS}?take=2`;
  const links: (string | null)[] = [];
  while (next) {
    const response: Response = await app.request(next);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-total-count"), "5");
    emails.push(...(await response.json()).map(({ email }: User) => email));
    links.push(response.headers.get("link"));
    next = /^<([^>]+)>/.exec(links.at(-1) ?? "")?.[1];
  }
  assert.deepEqual(emails, [0, 1, 2, 3, 4].map((i) => `user${i}@example.com`));
  assert.deepEqual(links, [
    '</api/v1/users?skip=2&take=2>; rel="next"',
    '</api/v1/users?skip=4&take=2>; rel="next"',
    null,
  ]);
});

for (
  const [query, expected] of [
    ["", 20],
    ["?take=1", 1],
    ["?take=0", 1],
    ["?take=-5", 1],
    ["?take=100", 30],
    ["?take=101", 30],
    ["?take=9223372036854775808", 30],
    [`?take=${"9".repeat(400)}`, 30],
    ["?skip=-1&take=100", 30],
    ["?skip=29", 1],
    ["?skip=9223372036854775808", 0],
    ["?take=+2", undefined],
    ["?take=%2B2", 2],
    ["?take=1.5", undefined],
    ["?take=abc", undefined],
    ["?take=", undefined],
    ["?take=1e2", undefined],
    ["?take=0x10", undefined],
    ["?take=NaN", undefined],
    ["?skip=Infinity", undefined],
    ["?skip=1&skip=2", undefined],
  ] as const
) {
  test(`list with ${query.slice(0, 40) || "no query"} responds ${expected ?? "422"}`, async () => {
    await using app = await users();
    const { user } = app.get(Db);
    for (let i = 0; i < 30; i++) {
      await user.create({ data: { tenant_id: "demo", email: `${i}@example.com`, name: "Tom" } });
    }
    const response = await app.request(USERS + query);
    const body = await response.json();
    assert.equal(response.status === 200 ? body.length : response.status, expected ?? 422);
  });
}

for (
  const id of [
    "abc",
    "1.5",
    "9223372036854775808",
    "-9223372036854775809",
    "%00",
    "1%00",
    "1e3",
    "NaN",
    "0x1",

    "%20",
    "💥",
    "__proto__",
    "1;drop",
    "'",
    "%zz",
  ]
) {
  test(`an id such as ${JSON.stringify(id)} is refused with 422 by every operation`, async () => {
    await using app = await users();
    for (const init of [{}, { method: "DELETE" }, patch({ name: "Tim" })]) {
      assert.equal((await app.request(`${USERS}${id}`, init)).status, 422);
    }
  });
}

for (const id of ["0", "-1", "999", "9007199254740991"]) {
  test(`an id without a user, ${id}, is a 404 problem for every operation`, async () => {
    await using app = await users();
    for (const init of [{}, { method: "DELETE" }, patch({ name: "Tim" })]) {
      const response = await app.request(`${USERS}${id}`, init);
      assert.equal(response.status, 404);
      assert.equal(response.headers.get("content-type"), "application/problem+json");
    }
  });
}

test("update changes the given fields and responds 200 with the row", async () => {
  await using app = await users();
  const row = await create(app, "tom@example.com");
  for (
    const [json, changed] of [
      [{ name: "Tim" }, { name: "Tim" }],
      [{ active: false }, { name: "Tim", active: false }],
      [{}, { name: "Tim", active: false }],
    ] as const
  ) {
    const response = await app.request(`${USERS}${row.id}`, patch(json));
    assert.deepEqual([response.status, await response.json()], [200, { ...row, ...changed }]);
  }
});

test("update of another tenant's user is refused with 403 and changes nothing", async () => {
  await using app = await users();
  const data = { tenant_id: "other", email: "other@example.com", name: "Other" };
  const { id } = await app.get(Db).user.create({ data });
  const response = await app.request(`${USERS}${id}`, patch({ name: "Taken over" }));
  assert.equal(response.status, 403);
  assert.equal((await response.json()).detail, "The user belongs to another tenant");
  const stored = await app.get(Db).user.findUnique({ where: { id } });
  assert.deepEqual(stored, { id, ...data, active: true });
});

test("another tenant's user is neither read, listed, counted nor deleted", async () => {
  await using app = await users();
  const other = { tenant_id: "other", email: "other@example.com", name: "Other" };
  const { id } = await app.get(Db).user.create({ data: other });
  assert.equal((await app.request(`${USERS}${id}`)).status, 404);
  assert.equal((await app.request(`${USERS}${id}`, { method: "DELETE" })).status, 404);
  const list = await app.request(USERS);
  assert.deepEqual([await list.json(), list.headers.get("x-total-count")], [[], "0"]);
  assert.equal(await app.get(Db).user.count(), 1);
});

test("delete responds 200 with the deleted row, then 404", async () => {
  await using app = await users();
  const row = await create(app, "tom@example.com");
  const response = await app.request(`${USERS}${row.id}`, { method: "DELETE" });
  assert.deepEqual([response.status, await response.json()], [200, row]);
  assert.equal((await app.request(`${USERS}${row.id}`, { method: "DELETE" })).status, 404);
});

test("50 concurrent creates of one e-mail result in one 201 and 49 times 409", async () => {
  await using app = await users();
  const json = { email: "tom@example.com", name: "Tom" };
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => app.request(USERS, { json })),
  );
  const statuses = responses.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, ...Array(49).fill(409)]);
  const problem = await responses.find(({ status }) => status === 409)?.json();
  assert.doesNotMatch(JSON.stringify(problem), /SQL|UNIQUE|constraint|tom@/i);
  assert.equal(await app.get(Db).user.count(), 1);
});

for (
  const [claim, json, fields] of [
    ["no e-mail", { name: "Tom" }, ["email"]],
    ["no name", { email: "tom@example.com" }, ["name"]],
    ["an e-mail that is none", { email: "tom", name: "Tom" }, ["email"]],
    ["a name of 1", { email: "tom@example.com", name: "T" }, ["name"]],
    ["a name of 81", { email: "tom@example.com", name: "T".repeat(81) }, ["name"]],
    ["a name that is a number", { email: "tom@example.com", name: 42 }, ["name"]],
    ["nothing right", { email: 1, name: null }, ["email", "name"]],
    ["an array", [], [""]],
    ["null", null, [""]],
  ] as const
) {
  test(`create with ${claim} is refused with 422`, async () => {
    await using app = await users();
    const response = await app.request(USERS, { json });
    assert.equal(response.status, 422);
    const { errors } = await response.json();
    assert.deepEqual(errors.map(({ field }: { field: string }) => field), fields);
    assert.equal(await app.get(Db).user.count(), 0);
  });
}

for (const length of [2, 80]) {
  test(`create accepts a name of ${length} characters`, async () => {
    await using app = await users();
    const { name } = await create(app, "tom@example.com", "é".repeat(length));
    assert.equal(name.length, length);
  });
}

test("names accept exactly the texts that every database can store", async () => {
  await using app = await users();
  let i = 0;
  for (
    const [name, status] of [
      ["'; DROP TABLE users; --", 201],
      ["💥🎉", 201],
      ["%_\\\u0001", 201],
      ["名前", 201],
      ["a\u0000b", 422],
      ["\ud800x", 422],
    ] as const
  ) {
    const json = { email: `${i++}@example.com`, name };
    const response = await app.request(USERS, { json });
    const row = await response.json();
    assert.equal(response.status, status);
    if (status === 201) assert.equal(row.name, name);
  }
});

test("malformed JSON is 400, another type 415, 3 MB 413, all as problems with a request id", async () => {
  await using app = await users();
  for (
    const [body, type, status] of [
      ["{", "application/json", 400],
      ["{}", "text/plain", 415],
      [`"${"x".repeat(3_000_000)}"`, "application/json", 413],
    ] as const
  ) {
    const response = await app.request(USERS, {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    const problem = await response.json();
    assert.deepEqual([response.status, problem.status], [status, status]);
    assert.equal(problem.requestId, response.headers.get("x-request-id"));
  }
});

test("an unknown path is 404 and a wrong method 405 with Allow, as problems with a request id", async () => {
  await using app = await users();
  const missing = await app.request("/api/v1/nothing");
  const wrong = await app.request(USERS, { method: "PUT" });
  assert.deepEqual([missing.status, wrong.status], [404, 405]);
  assert.equal(wrong.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  for (const response of [missing, wrong]) {
    assert.equal(response.headers.get("content-type"), "application/problem+json");
    assert.equal((await response.json()).requestId, response.headers.get("x-request-id"));
  }
});

test("health reports the database, and responds 503 when it is closed", async () => {
  await using app = await users();
  const up = await app.request("/health");
  assert.deepEqual([up.status, await up.json()], [200, {
    status: "ok",
    checks: { db: { status: "up" } },
  }]);
  await app.get(Db).close();
  const down = await app.request("/health");
  assert.deepEqual([down.status, await down.json()], [503, {
    status: "error",
    checks: { db: { status: "down" } },
  }]);
  assert.equal((await app.request(USERS)).status, 503);
});

test("metrics count requests by the pattern of their route", async () => {
  await using app = await users();
  await app.request(`${USERS}7`);
  await app.request(`${USERS}8`);
  const response = await app.request("/metrics");
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
  assert.match(
    await response.text(),
    /http_requests_total\{method="GET",route="\/api\/v1\/users\/:id",status="404"\} 2/,
  );
});

test("Hono's CORS and security headers are on every response, including errors", async () => {
  await using app = await users();
  for (const path of [USERS, "/api/v1/nothing", `${USERS}abc`]) {
    const { headers } = await app.request(path, { headers: { origin: "https://example.com" } });
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
  }
});

test("HTTP table, tenant: it is the claim tenant_id of a verified token, never input", async () => {
  const { verifier, sign } = await issuer();
  await using app = await createTestApplication(appModule("sqlite::memory:"), {
    setUp: (app) => setUp(app).useOAuth2(verifier),
  });
  const as = async (claims: Record<string, unknown>, options: RequestOptions = {}) => ({
    ...options,
    headers: { authorization: `Bearer ${await sign(claims)}` },
  });
  const json = { email: "tom@example.com", name: "Tom", tenant_id: "t2" };
  const { id } = await (await app.request(USERS, await as({ tenant_id: "t1" }, { json }))).json();
  assert.equal((await app.get(Db).user.findUnique({ where: { id } }))?.tenant_id, "t1");
  const status = async (options: RequestOptions) => (await app.request(USERS + id, options)).status;
  assert.equal(await status(await as({ tenant_id: "t1" })), 200);
  assert.equal(await status(await as({ tenant_id: "t2" })), 404);
  assert.equal(await status(await as({ tenant_id: "t2" }, patch({ name: "Tim" }))), 403);
  assert.equal(await status({}), 404);
  for (const tenant_id of [undefined, "", 7, ["t1"]]) {
    assert.equal(await status(await as({ tenant_id })), 403);
  }
});
