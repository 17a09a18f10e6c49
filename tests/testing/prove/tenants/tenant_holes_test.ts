/** Applications that mix tenants: the part `tenants` finds each hole, and none where there is none. */
import assert from "node:assert/strict";
import { type Failure, prove, type ProveOptions } from "../../../../src/testing/mod.ts";
import { SERVERS } from "../../../db/support/servers.ts";
import { test, testOnce } from "../../../support/test.ts";
import { type Hole, invoicesModule } from "./invoices.ts";

const callers = { ann: { tenant_id: "a" }, bob: { tenant_id: "b" }, root: { roles: ["admin"] } };

async function reportOf(
  holes: readonly Hole[],
  { seed = 1, database, ...options }: ProveOptions & {
    readonly seed?: number;
    readonly database?: string;
  } = {},
) {
  const proof = prove(invoicesModule(holes), {
    callers,
    setUp: (app, { verifier }) => void app.useOAuth2(verifier),
    ...options,
  });
  const report = await proof.run({ only: ["tenants"], seed, database });
  const [part = assert.fail()] = report.parts;
  return { ...part, text: report.toText() };
}

function linesOf(failures: readonly Failure[]): readonly string[] {
  return failures.map(({ subject, message }) => `${subject}: ${message}`);
}

const COUNTED = "the answer to bob depends on rows of ann:";
const GIVEN = "gives bob a row of ann";

/** The failures by hole; what follows a colon depends on the seeds of rows. */
const HOLES: Readonly<Record<Hole, readonly string[]>> = {
  findUnique: ["/invoices/:id", "/invoices/:id/cached"].map((path) => `GET ${path}: ${GIVEN}`),
  findMany: [`GET /invoices: ${GIVEN}`],
  count: [`GET /invoices: ${COUNTED} total is 8, and 4 without them`],
  update: [`PATCH /invoices/:id: bob changes a row of ann (invoices); ${GIVEN}`],
  delete: [`DELETE /invoices/:id: bob deletes a row of ann (invoices); ${GIVEN}`],
  include: [`GET /categories: ${GIVEN}`],
  "relation filter": [
    `GET /categories/used: ${COUNTED} its body has 5 elements, and 4 without them`,
  ],
  "relation order": [
    `GET /categories/sorted: ${COUNTED} [0].id is 3000002, and 3000001 without them`,
  ],
  reference: [
    "POST /invoices: a row of bob refers to one of ann (invoices.customer_id); " + GIVEN,
  ],
  "nested write": ["PUT /customers/:id/invoices: bob changes a row of ann (invoices)"],
  unique: [
    "POST /invoices: answers bob 409 if a row of ann has the same invoices.code; " +
    'revealed: ["invoices.code"] accepts it',
  ],
  "check after the update": ["PATCH /invoices/:id: bob changes a row of ann (invoices)"],
  message: ["/invoices/:id", "/invoices/:id/cached"]
    .map((path) => `GET ${path}: the 404 to bob has a value of a row of ann`),
  "bulk update": ["POST /invoices/send: bob changes a row of ann (invoices)"],
  "bulk delete": ["DELETE /invoices: bob deletes a row of ann (invoices)"],
  "raw SQL": [`GET /invoices/sum: ${COUNTED} sum is 8, and 4 without them`],
  cache: [`GET /invoices/:id/cached: ${GIVEN}`],
  export: [`GET /invoices/export: ${GIVEN}`],
  forbidden: ["/invoices/:id", "/invoices/:id/cached"].map((path) =>
    `GET ${path}: answers bob 403 if a row is ann's, and 404 if there is none; ` +
    `revealed: ["GET ${path}"] accepts it`
  ),
  "mass assignment": ["POST /invoices: bob adds a row to those of ann (invoices)"],
  filter: [`GET /invoices: ${GIVEN}`],
  "tenant of a query": [`GET /invoices: ${GIVEN}`],
  "search by a reference": [`POST /invoices/search: ${GIVEN}`],
  "search by a column": [`POST /customers/search: ${GIVEN}`],
};

/** Those that the default run looks for: a read, a write, a count, a reference and a 409. */
const TELLING: readonly Hole[] = ["findMany", "update", "count", "reference", "unique"];

for (const [hole, expected] of Object.entries(HOLES) as [Hole, readonly string[]][]) {
  testOnce(`the part tenants finds a hole of the kind: ${hole}`, async () => {
    const { failures } = await reportOf([hole]);
    assert.deepEqual(linesOf(failures), expected);
  }, { slow: !TELLING.includes(hole) });
}

test("the part tenants finds nothing where each tenant has its own rows", async () => {
  for (const seed of [1, 2, 3]) {
    const { failures, notes, text } = await reportOf([], { seed });
    assert.deepEqual(failures, [], text);
    assert.deepEqual(notes, []);
    assert.match(
      text,
      /^tenants {2}16 routes, 2 of 3 tables with tenants, \d+ requests: nothing of another tenant is given, counted, changed or revealed$/,
    );
  }
});

test("the part tenants reports a hole by the requests that lead to it", async () => {
  const { failures: [{ details = [] } = assert.fail()] } = await reportOf(["cache"]);
  const rows = details.filter((line) => line.startsWith("# a row of ann in "));
  assert.match(rows.join("\n"), /^# .* invoices: {"id":1000001,"tenant_id":"a","code":"qzown1-/m);
  const lines = details.slice(rows.length);
  const url = "'http://localhost:3000/invoices/1000001/cached'";
  assert.deepEqual(
    lines.slice(0, 2),
    ["ANN", "BOB"].map((name) => `curl -i ${url} -H "authorization: Bearer $${name}"`),
  );
  assert.match(lines[2] ?? "", /^# 200 application\/json: {"id":1000001,/);
  assert.match(lines[3] ?? "", /^# without rows of ann: 404 application\/problem\+json: /);
});

test("the part tenants accepts what is declared to be revealed, and no more", async () => {
  const revealed = ["GET /invoices/:id", "GET /invoices/:id/cached", "customers.name"];
  const { failures, outcome, notes } = await reportOf(["forbidden"], { revealed });
  assert.deepEqual(failures, []);
  assert.match(outcome, /, but for GET \/invoices\/:id, GET \/invoices\/:id\/cached$/);
  assert.deepEqual(notes, ["customers.name is declared to be revealed, and is not"]);
  const worse = await reportOf(["findUnique"], { revealed });
  assert.deepEqual(linesOf(worse.failures), HOLES.findUnique);
});

test("the part tenants does not apply to callers of one tenant", async () => {
  const { text } = await reportOf(["findMany"], {
    callers: { ann: { tenant_id: "a", name: "Ann" }, amy: { tenant_id: "a", name: "Amy" } },
  });
  assert.equal(
    text,
    "tenants  no two callers differ in a claim that is a column of a model: not applicable",
  );
});

for (const brand of ["postgres", "mysql"] as const) {
  const { url, skip } = SERVERS[brand];
  testOnce(`the part tenants finds holes, and nothing else, on ${brand}`, async () => {
    const { failures, text } = await reportOf([], { database: url });
    assert.deepEqual(failures, [], text);
    const found = await reportOf(["update", "raw SQL"], { database: url });
    assert.deepEqual(linesOf(found.failures), [...HOLES["raw SQL"], ...HOLES.update]);
  }, { skip, slow: true });
}
