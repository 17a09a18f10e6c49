import { scope, type } from "arktype";
import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import assert from "node:assert/strict";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import * as v from "valibot";
import * as z from "zod";
import {
  type AnySchema,
  controller,
  type ControllerClass,
  dto,
  type FwApplication,
  module,
  NotFoundException,
  route,
  validatedBody,
  validatedPath,
  validatedQuery,
} from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { freePort } from "../../support/free_port.ts";
import { test } from "../../support/test.ts";
import { withEnv } from "../../support/with_env.ts";

function serving(controller: ControllerClass): Promise<FwApplication> {
  return createTestApplication(module({ name: "AppModule", controllers: [controller] }));
}

const Whole = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number));

const CreateCat = dto("CreateCat", v.object({ name: v.pipe(v.string(), v.minLength(2)) }));

class CatsController extends controller("cats") {
  all = route.get(
    "/:id/:rest",
    {
      params: v.object({ id: Whole, rest: v.string() }),
      query: v.object({ tag: v.optional(v.union([v.string(), v.array(v.string())])) }),
      headers: v.object({ "x-color": v.string() }),
      args: { agent: (c) => c.req.header("user-agent") ?? "none" },
    },
    ({ params, query, headers, agent }) => ({ params, query, headers, agent }),
  );

  create = route.post("/", { body: CreateCat, status: 201 }, ({ body }) => body);

  maybe = route.post(
    "/maybe",
    { body: v.optional(v.object({})) },
    ({ body }) => ({ body: body ?? 0 }),
  );

  form = route.post(
    "/form",
    { body: v.looseObject({ name: v.string() }), consumes: ["form", "multipart"] },
    async ({ body }) => ({
      name: body.name,
      tags: body["tags"],
      file: body["file"] instanceof File ? await body["file"].text() : undefined,
    }),
  );
}

test("a handler receives every declared part of the request, validated", async () => {
  await using app = await serving(CatsController);
  const response = await app.request("/cats/7/a%20b?tag=x&tag=y&other=1", {
    headers: { "x-color": "red", "user-agent": "test" },
  });
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), {
    params: { id: 7, rest: "a b" },
    query: { tag: ["x", "y"] },
    headers: { "x-color": "red" },
    agent: "test",
  });
});

test("a query key that occurs once is a string", async () => {
  await using app = await serving(CatsController);
  const response = await app.request("/cats/7/a?tag=x", { headers: { "x-color": "red" } });
  assert.deepEqual((await response.json()).query, { tag: "x" });
});

test("one 422 lists the issues of all parts of a request", async () => {
  await using app = await serving(CatsController);
  const response = await app.request("/cats/seven/a");
  assert.equal(response.status, 422);
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  assert.deepEqual(await response.json(), {
    type: "about:blank",
    title: "Unprocessable Content",
    status: 422,
    detail: "The path does not satisfy its schema; The header does not satisfy its schema",
    instance: "/cats/seven/a",
    errors: [
      { in: "path", field: "id", message: "Invalid format: Expected /^\\d+$/" },
      {
        in: "header",
        field: "x-color",
        message: 'Invalid key: Expected "x-color"',
      },
    ],
  });
});

test("an error names the dto that a body does not satisfy", async () => {
  await using app = await serving(CatsController);
  const response = await app.request("/cats", { json: { name: "x" } });
  assert.equal((await response.json()).detail, "The body does not satisfy CreateCat");
});

test("a handler receives the parameters of its controller's prefix too, and an empty object without parameters", async () => {
  class MembersController extends controller("orgs/:org/members") {
    list = route.get("/", ({ params }) => params);
    one = route.get(
      "/:id",
      { params: v.object({ org: v.string(), id: Whole }) },
      ({ params }) => params,
    );
  }
  class PlainController extends controller() {
    plain = route.get("/plain", ({ params }) => params);
  }
  await using app = await createTestApplication(
    module({ controllers: [MembersController, PlainController] }),
  );
  const json = async (path: string) => await (await app.request(path)).json();
  assert.deepEqual(await json("/orgs/acme/members"), { org: "acme" });
  assert.deepEqual(await json("/orgs/acme/members/7"), { org: "acme", id: 7 });
  assert.deepEqual(await json("/plain"), {});
});

const json = "application/json";
for (
  const { claim, path = "/cats", type = json, body, headers, status, detail } of [
    { claim: "JSON", body: '{"name":"Tom"}', status: 201 },
    {
      claim: "JSON with a charset",
      type: `${json}; Charset="UTF-8"`,
      body: '{"name":"Tom"}',
      status: 201,
    },
    {
      claim: "a +json type",
      type: "application/merge-patch+json",
      body: '{"name":"Tom"}',
      status: 201,
    },
    { claim: "JSON with a byte order mark", body: '\uFEFF{"name":"Tom"}', status: 201 },
    {
      claim: "malformed JSON",
      body: '{"name":',
      status: 400,
      detail: "The body is not valid JSON",
    },
    { claim: "JSON with a replacement character", body: '{"name":"T\uFFFDm"}', status: 201 },
    {
      claim: "JSON with a character of which the end is missing",
      body: new Uint8Array([34, 0xf0, 0x9f, 0x98, 34]),
      status: 400,
      detail: "The body is not valid JSON",
    },
    {
      claim: "JSON that is not UTF-8",
      body: new Uint8Array([34, 0xff, 34]),
      status: 400,
      detail: "The body is not valid JSON",
    },
    {
      claim: "no body",
      type: undefined,
      body: null,
      status: 422,
      detail: "The request has no body",
    },
    {
      claim: "an empty body",
      body: "",
      status: 422,
      detail: "The request has no body",
    },
    {
      claim: "a +json type that is no application's",
      type: "image/svg+json",
      body: '{"name":"Tom"}',
      status: 415,
      detail: "This route reads application/json; the body has another type",
    },
    {
      claim: "text",
      type: "text/plain",
      body: "Tom",
      status: 415,
      detail: "This route reads application/json; the body has another type",
    },
    {
      claim: "a form where JSON is read",
      type: "application/x-www-form-urlencoded",
      body: "name=Tom",
      status: 415,
      detail: "This route reads application/json; the body has another type",
    },
    {
      claim: "JSON in Latin-1",
      type: `${json};charset=latin1`,
      body: '{"name":"Tom"}',
      status: 415,
      detail: "This route reads application/json; the body is not UTF-8",
    },
    {
      claim: "compressed JSON",
      headers: { "content-encoding": "gzip" },
      body: "x",
      status: 415,
      detail: "This route reads application/json; the body has a Content-Encoding",
    },
    {
      claim: "a JSON form where forms are read",
      path: "/cats/form",
      body: "{}",
      status: 415,
      detail:
        "This route reads application/x-www-form-urlencoded, multipart/form-data; the body has another type",
    },
    {
      claim: "a form",
      path: "/cats/form",
      type: "application/x-www-form-urlencoded",
      body: "name=Tom",
      status: 200,
    },
    {
      claim: "a malformed multipart form",
      path: "/cats/form",
      type: "multipart/form-data; boundary=x",
      body: "nonsense",
      status: 400,
      detail: "The body is not a valid form",
    },
    {
      claim: "no body where it is optional",
      path: "/cats/maybe",
      type: undefined,
      body: null,
      status: 200,
    },
  ]
) {
  test(`a route answers ${status} to ${claim}`, async () => {
    await using app = await serving(CatsController);
    const response = await app.request(path, {
      method: "POST",
      body,
      headers: { ...(type && { "content-type": type }), ...headers },
    });
    const answer = await response.json();
    assert.deepEqual([response.status, answer.detail], [status, detail]);
    if (status === 415) assert.match(response.headers.get("accept") ?? "", /^application/);
  });
}

test("a body without a content type is refused with 415", async () => {
  await using app = await serving(CatsController);
  const response = await app.request("/cats", {
    method: "POST",
    body: new TextEncoder().encode("{}"),
  });
  assert.equal(response.status, 415);
});

test("a multipart form has fields, repeated fields and files", async () => {
  await using app = await serving(CatsController);
  const body = new FormData();
  body.append("name", "Tom");
  body.append("tags", "a");
  body.append("tags", "b");
  body.append("file", new File(["meow"], "meow.txt"));
  const response = await app.request("/cats/form", { method: "POST", body });
  assert.deepEqual(await response.json(), { name: "Tom", tags: ["a", "b"], file: "meow" });
});

test("a multipart form is read from its first delimiter to its last", async () => {
  await using app = await serving(CatsController);
  const part = (name: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const cases = [
    [`${part("name", "Tom")}--x--`, { name: "Tom" }],
    [`${part("name", "Tom")}--x--\r\n${part("tags", "late")}--x--\r\n`, { name: "Tom" }],
    [`--x--\r\n${part("name", "Tom")}--x--\r\n`, undefined],
    [`a preamble\r\n${part("name", "Tom")}--x--\r\n`, undefined],
    [`${part("name", "Tom")}--x--\r\n`.replaceAll("\r", ""), undefined],
    [part("name", "Tom").replace("Tom", "T--x\r\nom") + "--x--\r\n", undefined],
    [part("name", "Tom").replace("--x\r", "--x  \r") + "--x--\r\n", undefined],
    [`\r\n${part("name", "Tom")}--x--`, { name: "Tom" }],
    [part("name", "Tom") + "--xy\r\n--x--\r\n", undefined],
    [part("name", "-\r\n--\r\n--y") + "--x--", { name: "-\r\n--\r\n--y" }],
  ] as const;
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  for (const [body, form] of cases) {
    const response = await app.request("/cats/form", { method: "POST", body, headers });
    if (form) assert.deepEqual(await response.json(), form, body);
    else assert.match(String(response.status), /^(?:400|422)$/, body);
  }
});

test("a form of more than 1000 fields is refused before it is parsed", async () => {
  await using app = await serving(CatsController);
  const multipart = (fields: number) =>
    `${'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(fields - 1)}` +
    '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nTom\r\n--x--\r\n';
  const urlencoded = "application/x-www-form-urlencoded";
  const cases = [
    [urlencoded, `name=Tom&${"a&".repeat(998)}a`, 200],
    [urlencoded, `name=Tom&${"a&".repeat(999)}a`, 413],
    [urlencoded, "a&".repeat(512 * 1024), 413],
    ["multipart/form-data; boundary=x", multipart(1000), 200],
    ['multipart/form-data; charset=utf-8; Boundary="x"', multipart(1000), 200],
    ["multipart/form-data; boundary=x", multipart(1001), 413],
    ["multipart/form-data; boundary=x", multipart(10_000), 413],
    ["multipart/form-data; boundary=x", multipart(2).replace("--x--", ""), 400],
    // what is counted and what is parsed must be the same
    ["multipart/form-data; boundary=y; boundary=x", multipart(10_000), 400],
    [`multipart/form-data; boundary=${"-".repeat(69)}x`, "-".repeat(1024 * 1024), 400],
    [`multipart/form-data; boundary=${"x".repeat(71)}`, multipart(1), 400],
    ["multipart/form-data", multipart(1), 400],
  ] as const;
  for (const [type, body, status] of cases) {
    const headers = { "content-type": type };
    const response = await app.request("/cats/form", { method: "POST", body, headers });
    const answer = await response.json();
    assert.equal(response.status, status, `${type}: ${JSON.stringify(answer)}`);
    if (status === 413) assert.equal(answer.detail, "The form has more than 1000 fields");
  }
});

test("the fields of a form are counted, whoever reads it, and however it arrives", async () => {
  class FormController extends controller("forms") {
    form = route.post("/formData", async (_, c) => [...await c.req.formData()].length);
    parsed = route.post("/parseBody", async (_, c) => Object.keys(await c.req.parseBody()).length);
    raw = route.post("/raw", async (_, c) => [...await c.req.raw.formData()].length);
    clone = route.post("/clone", async (_, c) => [...await c.req.raw.clone().formData()].length);
  }
  await using app = await serving(FormController);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  for (const reader of ["formData", "parseBody", "raw", "clone"]) {
    for (const isChunked of [false, true]) {
      const send = async (text: string) => {
        const body = isChunked ? new Blob([text]).stream() : text;
        const { status } = await app.request(`/forms/${reader}`, {
          method: "POST",
          body,
          headers: isChunked ? { ...headers, "transfer-encoding": "chunked" } : headers,
          duplex: "half",
        } as RequestInit);
        return status;
      };
      const what = `${reader}, ${isChunked ? "chunked" : "with a length"}`;
      assert.equal(await send("a=1&b=2"), 200, what);
      assert.equal(await send("a&".repeat(500 * 1000)), 413, what);
    }
  }
});

test("a body that only looks like a form is none for parseBody(), and ends nothing", async () => {
  class FormController extends controller("forms") {
    parsed = route.post("/", async (_, c) => Object.keys(await c.req.parseBody()));
  }
  await using app = await serving(FormController);
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const types = ["multipart/mixed", "multipart/related; boundary=a"];
  for (const type of [...types, "application/x-www-form-urlencodedx"]) {
    const headers = { "content-type": type };
    const response = await app.request("/forms", { method: "POST", body: "junk", headers });
    assert.deepEqual([response.status, await response.json()], [200, []], type);
  }
  await delay(5);
  process.off("unhandledRejection", note);
  assert.deepEqual(unhandled, []);
});

test("a form that middleware has read is decoded", async () => {
  for (const reader of ["formData", "parseBody", "text", "arrayBuffer"] as const) {
    await using app = await createTestApplication(module({ controllers: [CatsController] }), {
      setUp: (app) =>
        app.use(async (c, next) => {
          await c.req[reader]();
          await next();
        }),
    });
    const body = new FormData();
    body.append("name", "Tom");
    const response = await app.request("/cats/form", { method: "POST", body });
    assert.deepEqual([reader, await response.json()], [reader, { name: "Tom" }]);
  }
});

test("a body over the limit is refused with 413 before it is read completely", async () => {
  let pulled = 0;
  const body = new ReadableStream({
    pull(controller) {
      pulled += 1;
      controller.enqueue(new Uint8Array(64 * 1024));
      if (pulled === 48) controller.close(); // 3 MiB
    },
  });
  await using app = await serving(CatsController);
  const response = await app.request("/cats", {
    method: "POST",
    body,
    headers: { "content-type": json },
    duplex: "half",
  } as RequestInit);
  assert.equal(response.status, 413);
  assert.equal(response.headers.get("connection"), "close");
  assert.equal((await response.json()).detail, "The body is larger than 1048576 bytes");
  assert.ok(pulled < 24, `${pulled} of 48 chunks were read`);
});

test("the bodyLimit of a route replaces that of the application", async () => {
  class UploadsController extends controller() {
    small = route.post("/small", { body: v.unknown(), bodyLimit: 4 }, () => "read");
    plain = route.post("/plain", { body: v.unknown() }, () => "read");
    raw = route.post("/raw", { bodyLimit: 4 }, async (_, c) => await c.req.text());
  }
  await using app = await createTestApplication(module({ controllers: [UploadsController] }), {
    setUp: (app) => app.useBodyLimit(8),
  });
  const status = async (path: string, json: string) => (await app.request(path, { json })).status;
  assert.equal(await status("/small", "12"), 200);
  assert.equal(await status("/small", "123"), 413);
  assert.equal(await status("/plain", "123456"), 200);
  assert.equal(await status("/plain", "1234567"), 413);
  assert.equal(await status("/raw", "123"), 413);
});

test("useBodyLimit() refuses an invalid size", async () => {
  await using app = await serving(CatsController);
  assert.throws(() => app.useBodyLimit(-1), RangeError);
  assert.throws(() => app.useBodyLimit(Number.NaN), RangeError);
});

test("__proto__ in a body, a query or a form is harmless", async () => {
  await using app = await serving(CatsController);
  const body =
    '{"name":"Tom","__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}';
  const created = await app.request("/cats", {
    method: "POST",
    body,
    headers: { "content-type": json },
  });
  assert.deepEqual(await created.json(), { name: "Tom" });
  await app.request("/cats/1/a?__proto__=x&__proto__[admin]=true", {
    headers: { "x-color": "red" },
  });
  await app.request("/cats/form", {
    method: "POST",
    body: "name=Tom&__proto__=x&__proto__.admin=true",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  assert.equal(({} as { admin?: boolean }).admin, undefined);
  assert.equal(({} as { x?: unknown }).x, undefined);
});

const CatRow = dto("CatRow", v.object({ name: v.string() }));

class AnswersController extends controller() {
  strips = route.get("/strips", { response: v.array(CatRow) }, () => {
    const rows = [{ name: "Tom", tenant_id: "secret" }];
    return rows;
  });
  mismatch = route.get("/mismatch", { response: CatRow }, () => ({ name: 7 as unknown as string }));
  raw = route.get("/raw", { response: CatRow }, () => new Response("as it is", { status: 418 }));
  nothing = route.get("/nothing", () => undefined);
  empty = route.delete("/empty", { status: 204 }, () => ({ ignored: true }));
  nil = route.get("/nil", () => null);
  accepted = route.post("/accepted", { status: 202 }, () => "queued");
  text = route.get("/text", (_, c) => c.text("plain"));
  status = route.get("/status", (_, c) => {
    c.status(203);
    c.header("x-own", "1");
    return 1;
  });
  foreign = route.get("/foreign", () => fetch("data:text/plain,foreign"));
  circular = route.get("/circular", () => {
    const self: Record<string, unknown> = {};
    return self.self = self;
  });
}

for (
  const { path, method = "GET", status, type, body } of [
    { path: "/strips", status: 200, type: json, body: '[{"name":"Tom"}]' },
    { path: "/raw", status: 418, body: "as it is" },
    { path: "/nothing", status: 200, type: null, body: "" },
    { path: "/empty", method: "DELETE", status: 204, type: null, body: "" },
    { path: "/nil", status: 200, type: json, body: "null" },
    { path: "/accepted", method: "POST", status: 202, type: json, body: '"queued"' },
    { path: "/text", status: 200, body: "plain" },
    { path: "/status", status: 203, type: json, body: "1" },
    { path: "/foreign", status: 200, body: "foreign" },
  ]
) {
  test(`a handler's answer at ${path} is sent as declared`, async () => {
    await using app = await serving(AnswersController);
    const response = await app.request(path, { method });
    const [sent, text] = [response.headers.get("content-type"), await response.text()];
    assert.deepEqual([response.status, text], [status, body]);
    if (type !== undefined) assert.equal(sent, type);
  });
}

test("a value that its response schema refuses is a 500 without the value", () =>
  withEnv("FW_ENV", "development", async () => {
    await using app = await serving(AnswersController);
    const response = await app.request("/mismatch");
    assert.deepEqual(await response.json(), {
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail:
        "Cannot send the response: it does not satisfy CatRow (name: Invalid type: Expected string)",
      instance: "/mismatch",
    });
    assert.equal((await app.request("/circular")).status, 500);
  }));

test("a single field of a form is a list if the schema accepts only lists", async () => {
  const Form = v.object({ tags: v.array(v.string()), files: v.optional(v.array(v.file())) });
  class FormsController extends controller() {
    option = route.post(
      "/option",
      { body: Form, consumes: ["form", "multipart", "json"] },
      ({ body: { tags, files } }) => [tags, files?.length],
    );
    extractor = route.post(
      "/extractor",
      { args: { form: validatedBody(Form, { consumes: ["form", "json"] }) } },
      ({ form }) => [form.tags, 0],
    );
  }
  await using app = await serving(FormsController);
  const send = async (path: string, body: FormData | URLSearchParams) =>
    await (await app.request(path, { method: "POST", body })).json();
  const multipart = new FormData();
  multipart.append("tags", "a");
  multipart.append("files", new File(["x"], "x.txt"));
  assert.deepEqual(await send("/option", multipart), [["a"], 1]);
  assert.deepEqual(await send("/option", new URLSearchParams("tags=a&tags=b")), [["a", "b"], null]);
  assert.deepEqual(await send("/extractor", new URLSearchParams("tags=a")), [["a"], 0]);
  assert.deepEqual((await send("/option", new URLSearchParams("tag=a"))).errors[0].field, "tags");
  for (const path of ["/option", "/extractor"]) {
    assert.equal((await app.request(path, { json: { tags: "a" } })).status, 422);
  }
});

test("the validated extractors act like the options of a route", async () => {
  class ExtractedController extends controller() {
    one = route.post("/:id", {
      args: {
        id: validatedPath(v.object({ id: Whole })),
        page: validatedQuery(v.object({ take: Whole })),
        cat: validatedBody(CreateCat),
      },
    }, ({ id, page, cat }) => ({ id, page, cat }));
  }
  await using app = await serving(ExtractedController);
  const good = await app.request("/3?take=4", { json: { name: "Tom" } });
  assert.deepEqual(await good.json(), { id: { id: 3 }, page: { take: 4 }, cat: { name: "Tom" } });
  const bad = await app.request("/3?take=four", { json: { name: "Tom" } });
  assert.equal(bad.status, 422);
});

test("HttpException.throw() works as an expression, from anywhere", async () => {
  class MissingController extends controller() {
    one = route.get("/", () => [].at(0) ?? NotFoundException.throw("No such cat"));
  }
  await using app = await serving(MissingController);
  const response = await app.request("/");
  assert.deepEqual([response.status, (await response.json()).detail], [404, "No such cat"]);
});

test("a response schema of any library strips what it does not declare", async () => {
  class StoredRow {
    id = 1;
    password_hash = "s3cret";
    nested = { ok: true, hidden: 1, toJSON: () => ({ leaked: true }) };

    toJSON() {
      return { id: 1, password_hash: "s3cret" };
    }
  }
  const row = new StoredRow();
  class StrippingController extends controller() {
    valibot = route.get(
      "/valibot",
      { response: v.object({ id: v.number(), nested: v.object({ ok: v.boolean() }) }) },
      () => row,
    );
    zod = route.get(
      "/zod",
      { response: z.object({ id: z.number(), nested: z.object({ ok: z.boolean() }) }) },
      () => row,
    );
    arktype = route.get(
      "/arktype",
      { response: type({ id: "number", nested: { ok: "boolean" } }) },
      () => row,
    );
  }
  await using app = await serving(StrippingController);
  for (const library of ["valibot", "zod", "arktype"]) {
    const response = await app.request(`/${library}`);
    assert.deepEqual(await response.json(), { id: 1, nested: { ok: true } }, library);
  }
});

test("an arktype response strips in tuples, and what a morph returns", async () => {
  class User {
    #id = 1;
    password_hash = "s3cret";

    get id() {
      return this.#id;
    }
    toJSON() {
      return { id: this.id, password_hash: this.password_hash };
    }
  }
  const id = type({ id: "number" });
  const same = (value: unknown) => value;
  class MorphController extends controller() {
    piped = route.get("/piped", { response: id.pipe(same) }, () => new User());
    nested = route.get(
      "/nested",
      { response: type({ a: id.pipe(same) }) },
      () => ({ a: new User() }),
    );
    tuple = route.get(
      "/tuple",
      { response: type([id, id]) },
      (): [User, User] => [new User(), new User()],
    );
    list = route.get("/list", { response: id.pipe(same).array() }, () => [new User()]);
    union = route.get(
      "/union",
      { response: type({ kind: "string", a: "string" }).or({ kind: "string", a: id.pipe(same) }) },
      () => ({ kind: "user", a: new User() }),
    );
  }
  await using app = await serving(MorphController);
  for (
    const [path, expected] of [
      ["/piped", { id: 1 }],
      ["/nested", { a: { id: 1 } }],
      ["/tuple", [{ id: 1 }, { id: 1 }]],
      ["/list", [{ id: 1 }]],
      ["/union", { kind: "user", a: { id: 1 } }],
    ] as const
  ) {
    assert.deepEqual(await (await app.request(path)).json(), expected, path);
  }
});

test("an arktype response strips unions that are items of tuples, of any kind of object", async () => {
  class User {
    readonly #name = "Ann";
    readonly kind = "user";
    readonly password_hash = "s3cret";

    get name() {
      return this.#name;
    }
  }
  const entry = type({ kind: "'user'", name: "string" }).or({ kind: "'group'", title: "string" });
  const home = type({ kind: "'user'", home: { city: "string" } })
    .or({ kind: "'group'", title: "string" });
  const optional = type({ list: ["string", [entry, "?"]] });
  const row = { kind: "user", name: "Ann", password_hash: "s3cret" } as const;
  const frozen = Object.freeze({ ...row });
  const nested = Object.freeze({
    kind: "user",
    home: Object.freeze({ city: "Rome", password_hash: "s3cret" }),
    password_hash: "s3cret",
  });
  const sent = { kind: "user", name: "Ann" };
  const cases: readonly (readonly [schema: AnySchema, data: unknown, expected: unknown])[] = [
    [type(["string", entry]), ["a", row], ["a", sent]],
    [type(["string", entry]), ["a", frozen], ["a", sent]],
    [type(["string", entry]), ["a", new User()], ["a", sent]],
    [type([entry, "string"]), [frozen, "a"], [sent, "a"]],
    [type(["string", "...", entry.array()]), ["a", frozen, frozen], ["a", sent, sent]],
    [type(["...", entry.array(), "string"]), [frozen, "a"], [sent, "a"]],
    [type(["...", type.string.array(), entry]), ["a", frozen], ["a", sent]],
    [optional, { list: ["a", frozen] }, { list: ["a", sent] }],
    [type(["string", home]), ["a", nested], ["a", { kind: "user", home: { city: "Rome" } }]],
  ];
  class TuplesController extends controller() {
    constructor() {
      super();
      cases.forEach(([response, data], i) =>
        Object.assign(this, { [`r${i}`]: route.get(`/${i}`, { response }, () => data as never) })
      );
    }
  }
  await using app = await serving(TuplesController);
  for (const [i, [, , expected]] of cases.entries()) {
    const response = await app.request(`/${i}`);
    assert.deepEqual([response.status, await response.json()], [200, expected], String(i));
  }
});

test("an arktype response sends instances by their toJSON, and objects by their keys", async () => {
  class Price {
    readonly cents: number;

    constructor(cents: number) {
      this.cents = cents;
    }

    toJSON() {
      return `${this.cents / 100} EUR`;
    }
  }
  const Priced = type({ name: "string", price: type.instanceOf(Price), at: "Date" });
  const Empty = type({ "nickname?": "string" });
  const data = {
    list: [{ name: "book", price: new Price(1250), at: new Date(0), hidden: 1 }],
    either: { name: "lamp", price: new Price(4900), at: new Date(0), hidden: 1 },
    empty: Object.create({ toJSON: () => "leaked" }),
    any: new Price(100),
  };
  class PricesController extends controller() {
    list = route.get("/", {
      response: type({
        list: Priced.array(),
        either: Priced.or("null"),
        empty: Empty,
        any: "unknown",
      }),
    }, () => data);
  }
  await using app = await serving(PricesController);
  const at = "1970-01-01T00:00:00.000Z";
  assert.deepEqual(await (await app.request("/")).json(), {
    list: [{ name: "book", price: "12.5 EUR", at }],
    either: { name: "lamp", price: "49 EUR", at },
    empty: {},
    any: "1 EUR",
  });
});

test("a response of a union of arktype leaves the handler's object as it is", async () => {
  const tom = { name: "Tom", owner: "Ann", home: { city: "Rome", secret: 1 } };
  const stored = structuredClone(tom);
  const Home = type({ city: "string" });
  const flat = type({ name: "string" });
  const schemas = [
    flat.or("null"),
    flat.or("undefined"),
    type({ name: "'Tom'" }).or({ name: "'Ann'" }),
    type({ name: "string", home: Home }).or("null"),
    type({ name: "string", "home?": Home }).or("undefined"),
    type({ name: "'Tom'", home: Home }).or({ name: "'Ann'" }),
    type({ name: "string", home: Home }),
  ];
  class UnionsController extends controller() {
    constructor() {
      super();
      schemas.forEach((response, i) =>
        Object.assign(this, { [`r${i}`]: route.get(`/${i}`, { response }, () => tom) })
      );
    }
    wrong = route.get("/wrong", { response: schemas[0]! }, () => ({ name: 1 }) as never);
  }
  await using app = await serving(UnionsController);
  for (const i of schemas.keys()) {
    const sent = await (await app.request(`/${i}`)).json();
    assert.deepEqual(sent, { name: "Tom", ...i > 2 && { home: { city: "Rome" } } });
    assert.deepEqual(tom, stored);
  }
  await captureLogs(["fw"], async () => {
    assert.equal((await app.request("/wrong")).status, 500);
  });
});

test("a route refuses an arktype response that always keeps undeclared keys", () => {
  const recursive = type.module({ user: { name: "string", "manager?": "user" } }).user;
  const union = type({ a: "string" }).or({ b: "number" });
  const stripping =
    type.module({ user: { "+": "delete", name: "string", "manager?": "user" } }).user;
  const message =
    "Cannot declare GET /: response: Cannot strip to the schema: it keeps undeclared " +
    'keys; declare "+": "delete"';
  const { Users } = scope({ User: { name: "string", "team?": "User[]" }, Users: "User[]" })
    .export();
  for (const response of [recursive, union, recursive.array(), Users, type([Users, "string"])]) {
    assert.throws(() => route.get("/", { response }, () => new Response()), { message });
  }
  route.get("/", { response: stripping }, () => new Response());
});

test("HEAD does not wait for a stream whose cancel never ends or fails", async () => {
  class StuckController extends controller() {
    never = route.get(
      "/never",
      () => new Response(new ReadableStream({ cancel: () => new Promise(() => {}) })),
    );
    fails = route.get(
      "/fails",
      () => new Response(new ReadableStream({ cancel: () => Promise.reject(new Error("no")) })),
    );
  }
  await using app = await serving(StuckController);
  for (const path of ["/never", "/fails"]) {
    assert.equal((await app.request(path, { method: "HEAD" })).status, 200);
  }
});

test("requests can share a response without a body", async () => {
  const done = new Response(null, { status: 204 });
  class SharedController extends controller() {
    shared = route.get("/", () => done);
  }
  await using app = await createTestApplication(module({ controllers: [SharedController] }), {
    setUp: (app) => app.useRequestId().useRateLimit(),
  });
  const ids = new Set<string | null>();
  for (const left of [99, 98, 97]) {
    const { headers } = await app.request("/");
    ids.add(headers.get("x-request-id"));
    assert.match(headers.get("ratelimit") ?? "", new RegExp(`^"default";r=${left};t=\\d+$`));
  }
  assert.equal(ids.size, 3);
});

test("HEAD of a streaming route cancels the stream", async () => {
  let cancelled = 0;
  class StreamController extends controller() {
    stream = route.get(
      "/",
      (_, c) => c.body(new ReadableStream({ cancel: () => void cancelled++ })),
    );
  }
  await using app = await serving(StreamController);
  const response = await app.request("/", { method: "HEAD" });
  assert.deepEqual([response.status, response.body, cancelled], [200, null, 1]);
});

test("HEAD has the length of GET", async () => {
  class LengthController extends controller() {
    one = route.get("/", () => "é");
  }
  await using app = await serving(LengthController);
  const response = await app.request("/", { method: "HEAD" });
  assert.equal(response.headers.get("content-length"), "4");
});

test("a body that middleware has read is validated too", async () => {
  class EchoController extends controller() {
    echo = route.post("/", { body: v.object({ n: v.number() }) }, ({ body }) => body);
  }
  await using app = await createTestApplication(module({ controllers: [EchoController] }), {
    setUp: (app) =>
      app.use(async (c, next) => {
        await c.req.text();
        await next();
      }),
  });
  const response = await app.request("/", { json: { n: 1 } });
  assert.deepEqual([response.status, await response.json()], [200, { n: 1 }]);
});

test("a truncated body is an error of the client", async () => {
  const body = () =>
    new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
  await using app = await serving(CatsController);
  for (
    const headers of [{ "content-type": json }, { "content-type": json, "content-length": "100" }]
  ) {
    const init = { method: "POST", body: body(), headers, duplex: "half" } as RequestInit;
    const response = await app.request("/cats", init);
    assert.deepEqual([response.status, (await response.json()).detail], [
      400,
      "The body is incomplete",
    ]);
  }
});

test("a guard refuses without waiting for a chunked body", async () => {
  class GuardedController extends controller() {
    upload = route.post("/", { body: v.unknown(), guards: [() => false] }, () => "in");
  }
  await using app = await serving(GuardedController);
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array([49])),
  });
  const init = { method: "POST", body, duplex: "half", headers: { "content-type": json } };
  assert.equal((await app.request("/", init as RequestInit)).status, 403);
});

test("a body over the limit is a 413 however it is read, and its source is cancelled", async () => {
  class ReadersController extends controller() {
    text = route.post("/text", {}, async (_, c) => await c.req.text());
    caught = route.post("/caught", {}, async (_, c) => await c.req.text().catch(() => "caught"));
    form = route.post("/form", { body: v.unknown(), consumes: ["form"] }, () => 1);
    stream = route.post("/stream", {}, async (_, c) => await new Response(c.req.raw.body).text());
  }
  await using app = await createTestApplication(module({ controllers: [ReadersController] }), {
    setUp: (app) => app.useBodyLimit(10),
  });
  for (const path of ["/text", "/form", "/stream"]) {
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("a=bcd&")),
      cancel: () => void (cancelled = true),
    });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const init = { method: "POST", body, duplex: "half", headers } as RequestInit;
    const response = await app.request(path, init);
    assert.equal(response.status, 413, path);
    assert.equal(cancelled, true, path);
  }
});

test("a body that middleware has unpacked is limited, whatever length was sent", async () => {
  const Length = v.pipe(v.object({ a: v.string() }), v.transform(({ a }) => a.length));
  class UnpackedController extends controller() {
    json = route.post("/json", { body: Length }, ({ body }) => body);
    form = route.post("/form", { body: Length, consumes: ["form"] }, ({ body }) => body);
    text = route.post("/text", async (_, c) => (await c.req.text()).length);
    large = route.post("/large", { body: Length, bodyLimit: 3000 }, ({ body }) => body);
  }
  const unpacked: MiddlewareHandler = async (c, next) => {
    const { raw } = c.req;
    const body = raw.body!.pipeThrough(new DecompressionStream("gzip"));
    const headers = { "content-type": raw.headers.get("content-type")!, "content-length": "30" };
    c.req.raw = new Request(raw.url, { method: "POST", body, headers, duplex: "half" } as object);
    await next();
  };
  await using app = await createTestApplication(module({ controllers: [UnpackedController] }), {
    setUp: (app) => app.useBodyLimit(1000).use(unpacked),
  });
  const types: Readonly<Record<string, string>> = {
    form: "application/x-www-form-urlencoded",
    text: "text/plain",
  };
  for (const path of ["json", "form", "text", "large"]) {
    for (
      const [length, isSmall] of [[500, true], [2000, path === "large"], [4000, false]] as const
    ) {
      const type = types[path] ?? json;
      const a = "x".repeat(length);
      const packed = gzipSync(type === json ? JSON.stringify({ a }) : `a=${a}`);
      assert.ok(packed.length < 60);
      const init = { method: "POST", body: packed, headers: { "content-type": type } };
      const response = await app.request(`/${path}`, init);
      assert.equal(response.status, isSmall ? 200 : 413, `${path} ${length}`);
      await response.body?.cancel();
    }
  }
});

test("a body that middleware has copied is limited as it was", async () => {
  class CopiedController extends controller() {
    json = route.post("/json", { body: v.unknown() }, () => "read");
    text = route.post("/text", async (_, c) => (await c.req.text()).length);
  }
  const copied: MiddlewareHandler = async (c, next) => {
    c.req.raw = new Request(c.req.raw);
    await next();
  };
  await using app = await createTestApplication(module({ controllers: [CopiedController] }), {
    setUp: (app) => app.useBodyLimit(1000).use(copied),
  });
  for (const path of ["/json", "/text"]) {
    for (const [length, status] of [[500, 200], [2000, 413]] as const) {
      for (const isKnown of [true, false]) {
        const text = JSON.stringify("x".repeat(length));
        const body = isKnown ? text : new Blob([text]).stream();
        const init = { method: "POST", body, duplex: "half", headers: { "content-type": json } };
        assert.equal((await app.request(path, init as RequestInit)).status, status, path);
      }
    }
  }
});

test("a body that a DELETE or OPTIONS route takes is limited without a Content-Length too", async () => {
  const options = { body: v.unknown(), bodyLimit: 4 };
  class RemovalsController extends controller() {
    remove = route.delete("/declared", options, () => "read");
    extracted = route.delete(
      "/extracted",
      { args: { list: validatedBody(v.unknown()) }, bodyLimit: 4 },
      () => "read",
    );
    ask = route.options("/declared", options, () => "read");
    any = route.all("/any", options, () => "read");
  }
  await using app = await serving(RemovalsController);
  for (
    const [method, path] of [
      ["DELETE", "/declared"],
      ["DELETE", "/extracted"],
      ["OPTIONS", "/declared"],
      ["DELETE", "/any"],
    ] as const
  ) {
    const send = async (body: string) => {
      const init = { method, body, headers: { "content-type": json } };
      const { headers } = new Request(`http://localhost${path}`, init);
      assert.equal(headers.has("content-length"), false);
      return (await app.request(path, init)).status;
    };
    assert.deepEqual([await send("1234"), await send("12345")], [200, 413], `${method} ${path}`);
  }
});

test("a body that a DELETE route takes is limited over a socket, in chunks too", async () => {
  let read = 0;
  class RemovalsController extends controller() {
    remove = route.delete("/", { body: v.unknown(), bodyLimit: 8 }, () => ++read);
  }
  await captureLogs(["fw"], async () => {
    await using app = await serving(RemovalsController);
    await using server = await app.listen(await freePort(), { hostname: "127.0.0.1" });
    const send = async (body: BodyInit) => {
      const headers = { "content-type": json };
      const init = { method: "DELETE", body, duplex: "half", headers } as RequestInit;
      const response = await fetch(server.url, init);
      await response.body?.cancel();
      return response.status;
    };
    const chunks = (texts: readonly string[]) =>
      new ReadableStream({
        start(controller) {
          for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
          controller.close();
        },
      });
    assert.deepEqual(
      [
        await send("[1,2,3]"),
        await send(chunks(["[1,2", ",3]"])),
        await send("[1,2,3,4]"),
        await send(chunks(["[1,2", ",3,4]"])),
      ],
      [200, 200, 413, 413],
    );
    assert.equal(read, 2);
  });
});

test("a refused value of 200 000 characters is a 422 without the value", async () => {
  const schemas = [
    v.object({ name: v.pipe(v.string(), v.maxLength(3)) }),
    v.object({ name: v.number() }),
    v.object({ name: v.pipe(v.string(), v.check(() => false, "No")) }),
    z.object({ name: z.string().max(3) }),
    z.object({ name: z.enum(["a"]) }),
    type({ name: "string <= 3" }),
    type({ name: "'a'" }),
  ];
  for (const body of schemas) {
    class LongController extends controller() {
      take = route.post("/", { body }, () => 1);
    }
    await using app = await serving(LongController);
    for (const name of ["x".repeat(200_000), "(".repeat(200_000)]) {
      const response = await app.request("/", { json: { name } });
      const { errors, ...problem } = await response.json();
      assert.deepEqual([response.status, problem.title], [422, "Unprocessable Content"]);
      assert.equal(errors.length, 1);
      assert.ok(errors[0].message.length < 100, errors[0].message.slice(0, 200));
    }
  }
});

test("a JSON string of 16 MiB is accepted", async () => {
  class LargeController extends controller() {
    large = route.post(
      "/",
      { body: v.object({ file: v.string() }), bodyLimit: 2 ** 25 },
      ({ body }) => body.file.length,
    );
  }
  await using app = await serving(LargeController);
  const response = await app.request("/", { json: { file: 'a"\\'.repeat(2 ** 22) } });
  assert.equal(await response.json(), 3 * 2 ** 22);
});

test("a JSON body with too many values, or too deep, is refused before it is validated", async () => {
  let validated = 0;
  const counted = v.pipe(v.unknown(), v.check(() => ++validated > 0));
  class BulkController extends controller() {
    plain = route.post("/plain", { body: counted }, () => "ok");
    bulk = route.post("/bulk", { body: counted, bodyLimit: 10_000_000 }, () => "ok");
    small = route.post("/small", { body: counted, bodyLimit: 50_000 }, () => "ok");
  }
  await using app = await serving(BulkController);
  const post = async (path: string, body: string) => {
    const response = await app.request(path, {
      method: "POST",
      body,
      headers: { "content-type": json },
    });
    return [response.status, (await response.json()).detail];
  };
  const many = JSON.stringify(Array.from({ length: 30_000 }, () => ({})));
  assert.deepEqual(await post("/plain", many), [413, "The body has more than 20971 values"]);
  const lists = (count: number) => JSON.stringify(Array.from({ length: count }, () => []));
  assert.deepEqual(await post("/small", lists(500)), [413, "The body has more than 1000 values"]);
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  for (const depth of [513, 10_000]) {
    assert.deepEqual(await post("/bulk", deep(depth)), [400, "The body is nested too deeply"]);
  }
  assert.equal(validated, 0);
  assert.deepEqual(await post("/small", lists(499)), [200, undefined]);
  assert.deepEqual(await post("/bulk", `${deep(512)}   `), [200, undefined]);
  assert.deepEqual(await post("/bulk", many), [200, undefined]);
  const commas = JSON.stringify([",[{".repeat(100_000), 'a"b\\'.repeat(1000)]);
  assert.deepEqual(await post("/plain", commas), [200, undefined]);
});

function noBigint(path: string): string {
  return `Cannot send the response: ${path} is a bigint, which JSON lacks; convert it, ` +
    "as String(value), v.pipe(v.bigint(), v.toString()) and z.bigint().transform(String) do";
}

for (
  const [claim, answer, detail] of [
    ["a function", () => () => 1, "Cannot send a function: it is not data"],
    ["a symbol", () => Symbol("x"), "Cannot send a symbol: it is not data"],
    ["a map", () => new Map([["a", 1]]), "Cannot send a Map: it is not data"],
    ["a set", () => new Set(["a"]), "Cannot send a Set: it is not data"],
    ["an error", () => new Error("x"), "Cannot send an Error: it is returned, not thrown"],
    [
      "an HttpException",
      () => new NotFoundException("x"),
      "Cannot send a NotFoundException: it is returned, not thrown",
    ],
    ["bytes", () => new Uint8Array(2), "Cannot send a Uint8Array: it is not data"],
    ["a bigint", () => 1n, noBigint("it")],
    ["rows with a bigint", () => [{ id: 1 }, { id: 2, cents: 1n }], noBigint("1.cents")],
    ["a network error", () => Response.error(), "Cannot send the response: it is a network error"],
    ["a response that was read", async () => {
      const response = new Response("x");
      await response.text();
      return response;
    }, "Cannot send the response: its body has been read"],
  ] as const
) {
  test(`a handler that returns ${claim} leads to a 500 problem`, () =>
    withEnv("FW_ENV", "development", async () => {
      class OddController extends controller() {
        odd = route.get("/", () => answer());
      }
      await using app = await serving(OddController);
      const response = await app.request("/");
      assert.deepEqual([response.status, (await response.json()).detail], [500, detail]);
    }));
}

test("a response sends a bigint that its schema converts, and refuses any other", () =>
  withEnv("FW_ENV", "development", async () => {
    const schemas: readonly (readonly [AnySchema, status: number])[] = [
      [v.object({ cents: v.pipe(v.bigint(), v.toString()) }), 200],
      [z.object({ cents: z.bigint().transform(String) }), 200],
      [type({ cents: type("bigint").pipe(String) }), 200],
      [v.object({ cents: v.bigint() }), 500],
      [z.object({ cents: z.bigint() }), 500],
      [type({ cents: "bigint" }), 500],
    ];
    class AccountsController extends controller() {
      constructor() {
        super();
        const account = () => ({ cents: 2n ** 63n - 1n }) as never;
        schemas.forEach(([response], i) =>
          Object.assign(this, { [`r${i}`]: route.get(`/${i}`, { response }, account) })
        );
      }
    }
    await using app = await serving(AccountsController);
    for (const [i, [, status]] of schemas.entries()) {
      const response = await app.request(`/${i}`);
      const { cents, detail } = await response.json();
      const expected = status === 200 ? "9223372036854775807" : noBigint("cents");
      assert.deepEqual([response.status, cents ?? detail], [status, expected]);
    }
  }));

test("middleware can set headers of fetched and redirecting responses", async () => {
  class ForeignController extends controller() {
    fetched = route.get("/fetched", () => fetch("data:text/plain,foreign"));
    moved = route.get("/moved", () => Response.redirect("https://example.com/"));
  }
  await using app = await createTestApplication(module({ controllers: [ForeignController] }), {
    setUp: (app) => app.use(secureHeaders()),
  });
  for (const [path, status] of [["/fetched", 200], ["/moved", 302]] as const) {
    const response = await app.request(path);
    assert.equal(response.status, status);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    await response.body?.cancel();
  }
});

for (
  const [declare, message] of [
    [() => route.get("/", 1 as never), "Cannot declare GET /: the handler is number"],
    [
      () => route.get("/", { query: {} as never }, () => 1),
      "Cannot declare GET /: query is not a Standard Schema",
    ],
    [
      () => route.post("/", { args: { body: () => 1 } }, () => 1),
      "Cannot declare POST /: args cannot contain body: the name is reserved",
    ],
    ...["a", [() => 1]].map((args) =>
      [
        () => route.get("/", { args } as object, () => 1),
        "Cannot declare GET /: args is not an object of extractors",
      ] as const
    ),
    [
      () => route.get("/", { args: { who: "me" } } as object, () => 1),
      "Cannot declare GET /: args.who is not an extractor",
    ],
    ...["form", ["xml"], ["toString"]].map((consumes) =>
      [
        () => route.post("/", { consumes } as object, () => 1),
        'Cannot declare POST /: consumes is not an array of "json", "form" and "multipart"',
      ] as const
    ),
    ...["guards", "interceptors", "filters"].map((kind) =>
      [
        () => route.get("/", { [kind]: () => true } as object, () => 1),
        `Cannot declare GET /: ${kind} is not an array`,
      ] as const
    ),
    ...([
      [{ tags: ["a"] }, "tags is not an option"],
      [{ hidden: "false" }, "hidden is not a boolean"],
      [{ deprecated: "2025-01-01" }, "deprecated is neither a boolean nor an object"],
      [{ deprecated: { until: "2025-01-01" } }, "deprecated.until is not an option"],
    ] as const).map(([openapi, why]) =>
      [
        () => route.get("/", { openapi } as object, () => 1),
        `Cannot declare GET /: openapi: ${why}`,
      ] as const
    ),
    [
      () => validatedBody(CreateCat, { consumes: ["xml"] as never[] }),
      'Cannot read the body: consumes is not an array of "json", "form" and "multipart"',
    ],
    ...[[() => true, () => 1], [[], () => 1], [5, () => 1]].map((args) =>
      [
        () => Reflect.apply(route.get, route, ["/", ...args]),
        "Cannot declare GET /: the options are not a plain object",
      ] as const
    ),
    ...[[{}, () => true, () => 1], [{}, undefined, () => 1], [{}, {}, () => 1]].map((args) =>
      [
        () => Reflect.apply(route.get, route, ["/", ...args]),
        "Cannot declare GET /: a route takes options and a handler; put guards into the options",
      ] as const
    ),
    [
      () => route.get("/", { role: ["admin"] } as object, () => 1),
      "Cannot declare GET /: role is not an option, roles is",
    ],
    [
      () => route.get("/", { pubic: true } as object, () => 1),
      "Cannot declare GET /: pubic is not an option",
    ],
    [
      () => route.get("/", { public: "false" as never }, () => 1),
      "Cannot declare GET /: public is not a boolean",
    ],
    [
      () => route.get("/", { roles: "admin" } as object, () => 1),
      "Cannot declare GET /: roles is not an array of names",
    ],
    ...["roles", "scopes", "guards"].map((name) =>
      [
        () => route.get("/", { [name]: undefined } as object, () => 1),
        `Cannot declare GET /: ${name} is undefined; omit it for the default`,
      ] as const
    ),
    [
      () => route.get("/", { roles: ["admin", ""] }, () => 1),
      "Cannot declare GET /: roles is not an array of names",
    ],
    ...["orders", ["a b"], [""], ['a"'], ["a\\b"], ["é"], ["a\nb"], [7], {}].map((scopes) =>
      [
        () => route.get("/", { scopes } as object, () => 1),
        "Cannot declare GET /: scopes is not an array of names",
      ] as const
    ),
    [
      () => route.get("/", { scopes: [] }, () => 1),
      "Cannot declare GET /: scopes is empty: name at least one",
    ],
    [
      () => route.get("/", { scope: ["a"] } as object, () => 1),
      "Cannot declare GET /: scope is not an option, scopes is",
    ],
    [
      () => route.get("/", { scopes: ["a"], public: true }, () => 1),
      "Cannot declare GET /: it is public, so its scopes have no effect",
    ],
    ...[205, 304].map((status) =>
      [
        () => route.get("/", { status } as object, () => 1),
        `Cannot declare GET /: status ${status} has no data: return a Response`,
      ] as const
    ),
    ...[100, 600, 200.5, "200"].map((status) =>
      [
        () => route.get("/", { status } as object, () => 1),
        `Cannot declare GET /: status ${status} is not an integer from 200 to 599`,
      ] as const
    ),
    [() => route.get("/", { body: CreateCat }, () => 1), "Cannot declare GET /: GET has no body"],
    [
      () => route.head("/", { body: CreateCat }, () => 1),
      "Cannot declare HEAD /: HEAD has no body",
    ],
    [
      () => route.delete("/", { response: CreateCat, status: 204 }, () => ({ name: "Tom" })),
      "Cannot declare DELETE /: a 204 response has no body",
    ],
  ] as const
) {
  test(`route refuses misuse: ${message}`, () => {
    assert.throws(declare, { name: "TypeError", message });
  });
}

test("dto() refuses an invalid name, and a second name", () => {
  const schema = v.string();
  assert.throws(() => dto("a b", schema), {
    name: "TypeError",
    message: 'Cannot name a schema "a b": a name consists of letters, digits, ".", "_" and "-"',
  });
  assert.equal(dto("Name", schema), schema);
  assert.equal(dto("Name", schema), schema);
  assert.throws(() => dto("Other", schema), {
    message: "Cannot name a schema Other: it is named Name",
  });
});

test("a route refuses an invalid bodyLimit, and an empty list of roles", () => {
  for (const bodyLimit of [NaN, -1, 1.5, "1mb" as unknown as number]) {
    assert.throws(() => route.post("/", { bodyLimit }, () => 1), {
      message: `Cannot declare POST /: bodyLimit ${bodyLimit} is not a size in bytes`,
    });
  }
  assert.throws(() => route.get("/", { roles: [] }, () => 1), {
    message: "Cannot declare GET /: roles is empty: name at least one",
  });
});
