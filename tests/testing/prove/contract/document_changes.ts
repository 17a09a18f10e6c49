/** Changes of documents, and what a comparison reports of them. */
import { documentOf, type Json, json, receiving, sending } from "./documents.ts";

/** A change of a document. */
export interface DocumentChange {
  readonly name: string;
  readonly base: Json;
  readonly current: Json;
  /** What is reported: `!` before breaking changes. */
  readonly changes: readonly string[];
}

/** The time of the comparison. */
export const NOW = Date.parse("2026-06-01");

const TEXT = { type: "string" };
const ORDER = {
  type: "object",
  properties: { id: { type: "integer" }, total: { type: "number" } },
  required: ["id", "total"],
};
const SMALL_ORDER = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
const DONE = { 204: { description: "Done" } };
const SCHEMAS = {
  Page: { type: "integer", default: 20 },
  Old: { type: "string", deprecated: true },
};
const SCHEMES = {
  bearerAuth: { type: "http", scheme: "bearer" },
  token: { type: "http", scheme: "Bearer", bearerFormat: "JWT" },
  key: { type: "apiKey", in: "header", name: "X-Key" },
  sameKey: { type: "apiKey", in: "header", name: "x-key" },
  query: { type: "apiKey", in: "query", name: "key" },
  otherQuery: { type: "apiKey", in: "query", name: "Key" },
};

/** Rows of one operation, `GET /a`: its members before and after. */
const OPERATION_ROWS: readonly (readonly [string, Json, Json, ...string[]])[] = [
  ["texts", { summary: "A", tags: ["a"] }, { summary: "B", description: "C" }],
  ["the id", { operationId: "a" }, { operationId: "b" }, "GET /a has the id b, had a"],
  ["deprecation", {}, { deprecated: true }, "GET /a is deprecated"],
  // parameters
  ["an optional parameter is added", {}, query("q"), 'GET /a query "q" is new'],
  [
    "a required parameter is added",
    {},
    query("q", { required: true }),
    '! GET /a query "q" is new',
  ],
  ["a parameter is removed", query("q"), {}, '! GET /a query "q" is removed'],
  [
    "a deprecated parameter is removed",
    query("q", { deprecated: true }),
    {},
    'GET /a query "q" is removed, which was deprecated',
  ],
  [
    "a parameter is removed after its sunset",
    query("q", { deprecated: true, "x-sunset": "2026-05-01" }),
    {},
    'GET /a query "q" is removed, after its sunset 2026-05-01',
  ],
  [
    "a parameter is removed before its sunset",
    query("q", { deprecated: true, "x-sunset": "2026-07-01" }),
    {},
    '! GET /a query "q" is removed, before its sunset 2026-07-01',
  ],
  [
    "a parameter becomes required",
    query("q"),
    query("q", { required: true }),
    '! GET /a query "q" is required',
  ],
  [
    "a parameter becomes optional",
    query("q", { required: true }),
    query("q"),
    'GET /a query "q" is optional',
  ],
  [
    "a parameter narrows",
    query("q", { schema: TEXT }),
    query("q", { schema: { enum: ["a"] } }),
    '! GET /a query "q" allows only "a", allowed any string',
  ],
  [
    "a parameter widens",
    query("q", { schema: { enum: ["a"] } }),
    query("q", { schema: TEXT }),
    'GET /a query "q" allows any string, allowed only "a"',
  ],
  [
    "the default of a parameter",
    query("q", { schema: { type: "integer", default: 20 } }),
    query("q", { schema: { type: "integer", default: 50 } }),
    '! GET /a query "q" has default 50, had 20',
  ],
  [
    "the default of a parameter behind a reference",
    query("q", { schema: { $ref: "#/components/schemas/Page" } }),
    query("q", { schema: { allOf: [{ type: "integer" }, { default: 50 }] } }),
    '! GET /a query "q" has default 50, had 20',
  ],
  [
    "a parameter is removed, whose schema is deprecated behind a reference",
    query("q", { schema: { $ref: "#/components/schemas/Old" } }),
    {},
    'GET /a query "q" is removed, which was deprecated',
  ],
  [
    "a parameter of JSON",
    query("q", { content: json(TEXT), schema: undefined }),
    query("q", { content: json({ type: "number" }), schema: undefined }),
    '! GET /a query "q" is number, was string',
  ],
  [
    "a parameter becomes JSON",
    query("q"),
    query("q", { content: json(TEXT), schema: undefined }),
    '! GET /a query "q" has another form',
  ],
  [
    "a parameter moves",
    query("q"),
    query("q", { in: "header" }),
    '! GET /a query "q" is removed',
    'GET /a header "q" is new',
  ],
  ["the case of a header", query("X-A", { in: "header" }), query("x-a", { in: "header" })],
  [
    "a header that is described elsewhere",
    {},
    query("Authorization", { in: "header", required: true }),
  ],
  [
    "how a list is written",
    query("q", { schema: { type: "array" } }),
    query("q", { schema: { type: "array" }, explode: false }),
    '! GET /a query "q" has style form, had form, exploded',
  ],
  [
    "how a text is written, in other words",
    query("q"),
    query("q", { style: "form", explode: false }),
  ],
  // bodies of requests
  ["an optional body is added", {}, body({ required: false }), "GET /a body is new"],
  ["a required body is added", {}, body(), "! GET /a body is new"],
  ["a body is removed", body(), {}, "! GET /a body is removed"],
  ["a body becomes required", body({ required: false }), body(), "! GET /a body is required"],
  ["a body becomes optional", body(), body({ required: false }), "GET /a body is optional"],
  [
    "a format of requests is added",
    body(),
    body({ content: { ...json(TEXT), "text/plain": {} } }),
    "GET /a body gained the format text/plain",
  ],
  [
    "a format of requests is removed",
    body({ content: { ...json(TEXT), "text/plain": {} } }),
    body(),
    "! GET /a body lost the format text/plain",
  ],
  [
    "a format becomes a range",
    body({ content: { "image/png": {} } }),
    body({ content: { "image/*": {} } }),
    "GET /a body gained the format image/*",
  ],
  [
    "a range becomes a format",
    body({ content: { "image/*": {} } }),
    body({ content: { "image/png": {} } }),
    "! GET /a body lost the format image/*",
  ],
  // responses
  [
    "an error is added",
    responses(),
    responses({ 429: { description: "Slow" } }),
    "GET /a 429 is new",
  ],
  [
    "an error is removed",
    responses({ 404: { description: "None" } }),
    responses(),
    "GET /a 404 is removed",
  ],
  [
    "a success is added",
    responses(),
    responses({ 202: { description: "Later" } }),
    "! GET /a 202 is new",
  ],
  [
    "one success of two is removed",
    responses({ 202: { description: "Later" } }),
    responses(),
    "GET /a 202 is removed",
  ],
  [
    "a success is replaced",
    { responses: DONE },
    { responses: { 200: { description: "It" } } },
    "! GET /a 204 is removed",
    "! GET /a 200 is new",
  ],
  [
    "not modified, where requests ask for it",
    responses(),
    responses({ 304: { description: "Same" } }),
    "GET /a 304 is new",
  ],
  [
    "a status of a described range",
    responses({ "2XX": { description: "Any" } }),
    responses({ 202: { description: "Later" } }),
  ],
  ["the default is removed", responses({ default: { description: "Any" } }), responses()],
  [
    "a range is removed",
    responses({ "4XX": { description: "Any" } }),
    responses(),
    "GET /a 4XX is removed",
  ],
  ["a range becomes statuses", responses({ "4XX": {} }), responses({ 404: {}, 409: {} })],
  [
    "a status has the schema of the default",
    { responses: { 204: {}, default: { content: json(TEXT) } } },
    { responses: { 204: {}, 404: { content: json({ type: "number" }) } } },
    "! GET /a 404 is number, was string",
  ],
  ["a body of a response is added", { responses: DONE }, {
    responses: { 204: { description: "", content: json(TEXT) } },
  }, "GET /a 204 gained a body"],
  [
    "a body of a response is removed",
    { responses: { 204: { description: "", content: json(TEXT) } } },
    { responses: DONE },
    "! GET /a 204 lost its body",
  ],
  [
    "a format of responses is added",
    { responses: { 200: { content: json(TEXT) } } },
    { responses: { 200: { content: { ...json(TEXT), "text/csv": {} } } } },
    "GET /a 200 gained the format text/csv",
  ],
  [
    "a format of responses is removed",
    { responses: { 200: { content: { ...json(TEXT), "text/csv": {} } } } },
    { responses: { 200: { content: json(TEXT) } } },
    "! GET /a 200 lost the format text/csv",
  ],
  [
    "one of several formats, with ranges",
    { responses: { 200: { content: { "*/*": {}, ...json(TEXT) } } } },
    { responses: { 200: { content: json({ type: "number" }) } } },
    "! GET /a 200 application/json is number, was string",
  ],
  [
    "a format of a range",
    { responses: { 200: { content: { "image/*": { schema: TEXT } } } } },
    { responses: { 200: { content: { "image/png": {}, "image/gif": { schema: TEXT } } } } },
    "! GET /a 200 image/png is anything, was string",
  ],
  [
    "a member of a response is lost",
    sending(ORDER),
    sending(SMALL_ORDER),
    '! GET /a 200 lost "total"',
  ],
  [
    "a deprecated member of a response is lost",
    sending({
      ...ORDER,
      properties: { ...ORDER.properties, total: { type: "number", deprecated: true } },
    }),
    sending(SMALL_ORDER),
    'GET /a 200 lost "total", which was deprecated',
  ],
  [
    "a member of a response is lost before its sunset",
    sending(orderUntil("2026-07-01")),
    sending(SMALL_ORDER),
    '! GET /a 200 lost "total", before its sunset 2026-07-01',
  ],
  [
    "a member of a request is lost before its sunset",
    body({ content: json(orderUntil("2026-07-01")) }),
    body({ content: json(SMALL_ORDER) }),
    '! GET /a body lost "total", before its sunset 2026-07-01',
  ],
  [
    "a member is lost whose sunset is not a time",
    sending(orderUntil("soon")),
    sending(SMALL_ORDER),
    '! GET /a 200 lost "total", before its sunset soon',
  ],
  [
    "a member of an element is lost",
    sending({ type: "object", properties: { rows: { type: "array", items: ORDER } } }),
    sending({ type: "object", properties: { rows: { type: "array", items: SMALL_ORDER } } }),
    '! GET /a 200 rows[] lost "total"',
  ],
  // headers of responses
  [
    "a header is added",
    header(),
    header({ "X-A": { schema: TEXT } }),
    "GET /a 204 header x-a is new",
  ],
  [
    "a header is removed",
    header({ "X-A": { schema: TEXT } }),
    header(),
    "! GET /a 204 header x-a is removed",
  ],
  [
    "a header can be missing",
    header({ "X-A": { schema: TEXT, required: true } }),
    header({ "x-a": { schema: TEXT } }),
    "! GET /a 204 header x-a can be missing",
  ],
  [
    "a header is always sent",
    header({ "X-A": { schema: TEXT } }),
    header({ "X-A": { schema: TEXT, required: true } }),
    "GET /a 204 header x-a is required",
  ],
  [
    "a deprecated header is removed",
    header({ "X-A": { schema: TEXT, deprecated: true } }),
    header(),
    "GET /a 204 header x-a is removed, which was deprecated",
  ],
  [
    "a header is removed before its sunset",
    header({ "X-A": { schema: TEXT, deprecated: true, "x-sunset": "2026-07-01" } }),
    header(),
    "! GET /a 204 header x-a is removed, before its sunset 2026-07-01",
  ],
  [
    "a header is removed, whose schema is deprecated in allOf",
    header({ "X-A": { schema: { allOf: [{ $ref: "#/components/schemas/Old" }] } } }),
    header(),
    "GET /a 204 header x-a is removed, which was deprecated",
  ],
  [
    "a header widens",
    header({ "X-A": { schema: { type: "integer" } } }),
    header({ "X-A": { schema: { type: "number" } } }),
    "! GET /a 204 header x-a is number, was integer",
  ],
  // protection
  [
    "credentials are needed",
    {},
    needs({ bearerAuth: [] }),
    "! GET /a needs bearerAuth, needed nothing",
  ],
  [
    "credentials are not needed",
    needs({ bearerAuth: [] }),
    needs(),
    "GET /a needs nothing, needed bearerAuth",
  ],
  [
    "credentials become optional",
    needs({ bearerAuth: [] }),
    needs({}, { bearerAuth: [] }),
    "GET /a needs nothing, needed bearerAuth",
  ],
  [
    "a scope is added",
    needs({ bearerAuth: ["a"] }),
    needs({ bearerAuth: ["a", "b"] }),
    "! GET /a needs bearerAuth (a, b), needed bearerAuth (a)",
  ],
  [
    "a scope is removed",
    needs({ bearerAuth: ["a", "b"] }),
    needs({ bearerAuth: ["b"] }),
    "GET /a needs bearerAuth (b), needed bearerAuth (a, b)",
  ],
  [
    "an alternative is added",
    needs({ bearerAuth: [] }),
    needs({ bearerAuth: [] }, { key: [] }),
    "GET /a needs bearerAuth or key, needed bearerAuth",
  ],
  [
    "an alternative is removed",
    needs({ bearerAuth: [] }, { key: [] }),
    needs({ key: [] }),
    "! GET /a needs key, needed bearerAuth or key",
  ],
  [
    "another scheme is needed too",
    needs({ key: [] }),
    needs({ key: [], bearerAuth: [] }),
    "! GET /a needs key and bearerAuth, needed key",
  ],
  ["the case of the header of a key", needs({ key: [] }), needs({ sameKey: [] })],
  [
    "the case of a parameter",
    needs({ query: [] }),
    needs({ otherQuery: [] }),
    "! GET /a needs otherQuery, needed query",
  ],
  ["a scheme is renamed", needs({ bearerAuth: [] }), needs({ token: [] })],
];

/** The changes. */
export const DOCUMENT_CHANGES: readonly DocumentChange[] = [
  ...OPERATION_ROWS.map(([name, base, current, ...changes]) => ({
    name,
    base: ofOperation(base),
    current: ofOperation(current),
    changes,
  })),
  ...[
    {
      name: "an operation is removed",
      base: documentOf({ "GET /a": sending(TEXT), "POST /a": receiving(TEXT) }),
      current: documentOf({ "GET /a": sending(TEXT) }),
      changes: ["! POST /a is removed"],
    },
    {
      name: "an operation is added",
      base: documentOf({ "GET /a": sending(TEXT) }),
      current: documentOf({ "GET /a": sending(TEXT), "POST /a": receiving(TEXT) }),
      changes: ["POST /a is new"],
    },
    {
      name: "a deprecated operation is removed",
      base: documentOf({ "GET /a": { ...sending(TEXT), deprecated: true } }),
      current: documentOf({}),
      changes: ["GET /a is removed, which was deprecated"],
    },
    {
      name: "an operation is removed after its sunset",
      base: documentOf({
        "GET /a": { ...sending(TEXT), deprecated: true, "x-sunset": "2026-06-01" },
      }),
      current: documentOf({}),
      changes: ["GET /a is removed, after its sunset 2026-06-01"],
    },
    {
      name: "an operation is removed before its sunset",
      base: documentOf({
        "GET /a": { ...sending(TEXT), deprecated: true, "x-sunset": "2026-06-02" },
      }),
      current: documentOf({}),
      changes: ["! GET /a is removed, before its sunset 2026-06-02"],
    },
    {
      name: "a parameter of a path is renamed",
      base: documentOf({ "GET /a/{id}/{b}": inPath("id", "b") }),
      current: documentOf({ "GET /a/{key}/{b}": inPath("b", "key") }),
      changes: [],
    },
    {
      name: "parameters of a path change places",
      base: documentOf({ "GET /a/{id}/{b}": inPath("id", "b") }),
      current: documentOf({ "GET /a/{b}/{id}": inPath("id", "b") }),
      changes: [
        '! GET /a/{id}/{b} path "id" is string, was integer',
        '! GET /a/{id}/{b} path "b" is integer, was string',
      ],
    },
    {
      name: "a path is renamed",
      base: documentOf({ "GET /a": sending(TEXT) }),
      current: documentOf({ "GET /b": sending(TEXT) }),
      changes: ["! GET /a is removed", "GET /b is new"],
    },
    {
      name: "a server is replaced",
      base: documentOf({}, { servers: [{ url: "https://a.example/" }] }),
      current: documentOf({}, { servers: [{ url: "https://b.example" }] }),
      changes: [
        "! API lost the server https://a.example",
        "API gained the server https://b.example",
      ],
    },
    {
      name: "requirements of all operations",
      base: documentOf({ "GET /a": sending(TEXT) }, { security: [{ key: [] }] }),
      current: documentOf({ "GET /a": { ...sending(TEXT), security: [{ key: [] }] } }),
      changes: [],
    },
    {
      name: "parameters of a path item, and references",
      base: documentOf({ "GET /a": { ...sending(TEXT), ...query("q") } }),
      current: {
        ...documentOf({ "GET /a": { operationId: "send", responses: { $ref: "#/x" } } }),
        paths: {
          "/a": {
            parameters: [{ $ref: "#/components/parameters/Q" }],
            get: {
              operationId: "send",
              responses: { 200: { $ref: "#/components/responses/It" } },
            },
          },
        },
        components: {
          parameters: { Q: { name: "q", in: "query", schema: TEXT } },
          responses: { It: { description: "It", content: json(TEXT) } },
        },
      },
      changes: [],
    },
    {
      name: "where tokens come from",
      base: documentOf({ "GET /a": { ...sending(TEXT), ...needs({ login: [] }) } }, loginAt("a")),
      current: documentOf(
        { "GET /a": { ...sending(TEXT), ...needs({ login: [] }) } },
        loginAt("b"),
      ),
      changes: ['! API security scheme "login" has another tokenUrl of clientCredentials'],
    },
  ],
];

function ofOperation(operation: Json): Json {
  const components = { securitySchemes: SCHEMES, schemas: SCHEMAS };
  return documentOf({ "GET /a": { responses: DONE, ...operation } }, { components });
}

function query(name: string, others: Json = {}): Json {
  return { parameters: [{ name, in: "query", schema: TEXT, ...others }] };
}

function inPath(...names: readonly string[]): Json {
  return {
    responses: DONE,
    parameters: names.map((name) => ({
      name,
      in: "path",
      required: true,
      schema: name === "b" ? TEXT : { type: "integer" },
    })),
  };
}

function body(others: Json = {}): Json {
  return { requestBody: { required: true, content: json(TEXT), ...others } };
}

function responses(others: Json = {}): Json {
  return { responses: { ...DONE, ...others } };
}

function header(headers: Json = {}): Json {
  return { responses: { 204: { description: "Done", headers } } };
}

function needs(...security: readonly Json[]): Json {
  return { security };
}

function loginAt(host: string): Json {
  const flows = { clientCredentials: { tokenUrl: `https://${host}.example/token`, scopes: {} } };
  return { components: { securitySchemes: { login: { type: "oauth2", flows } } } };
}

/** An order whose total is sent until a day. */
function orderUntil(sunset: string): Json {
  const total = { type: "number", deprecated: true, "x-sunset": sunset };
  return { ...ORDER, properties: { ...ORDER.properties, total } };
}
