import assert from "node:assert/strict";
import type { OpenApiDocument, OperationObject } from "../../src/openapi/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { EmbeddedSchemas, pointerOf } from "./embedded_schemas.ts";
import { createKitchenSink, FAILURE_MEDIA_TYPE, KITCHEN_SINK_OPTIONS } from "./kitchen_sink.ts";
import { goodRequests } from "./kitchen_sink/good_requests.ts";
import { sentParameters } from "./sent_parameters.ts";

const JSON_PATH = KITCHEN_SINK_OPTIONS.jsonPath;

/** An operation, and its place in the document. */
interface Placed {
  readonly operation: OperationObject;
  readonly at: readonly string[];
}

function placedOf({ paths }: OpenApiDocument): ReadonlyMap<string, Placed> {
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) =>
        [operation.operationId, { operation, at: ["paths", path, method] }] as const
      )
    ),
  );
}

test("each operation of the kitchen sink answers as it and its document declare", () =>
  captureLogs(["fw"], async () => {
    await using sink = await createKitchenSink();
    const document = await (await sink.app.request(JSON_PATH)).json();
    using schemas = new EmbeddedSchemas(document);
    const placed = placedOf(document);
    const token = await sink.issuer.sign({
      roles: ["admin", "staff", "boss"],
      scope: "orders:read orders:write vault",
    });
    const requests = goodRequests(token);
    assert.deepEqual(
      [...new Set(requests.map(({ operationId }) => operationId))].sort(),
      [...placed.keys()].sort(),
    );
    for (const request of requests) {
      const { operationId, path, init, status = 200, answer } = request;
      const { operation, at } = placed.get(operationId) ?? assert.fail(operationId);
      const response = await sink.app.request(path, init);
      const text = await response.text();
      const said = { operationId, status: response.status, text };
      const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
      const body = type === "application/json" && text ? JSON.parse(text) : text || undefined;
      assert.deepEqual({ ...said, body }, { ...said, status, body: answer });

      const documented = operation.responses[String(status)];
      assert.ok(documented && "description" in documented, `${operationId}: ${status}`);
      if (!documented.content) continue;
      const [told = "", ...others] = Object.keys(documented.content);
      assert.deepEqual([told === "*/*" ? type : told, ...others], [type], operationId);
      const keys = [...at, "responses", String(status), "content", told, "schema"];
      const check = await schemas.checker(pointerOf(...keys));
      assert.ok(check(body), `${operationId}: ${text}`);
    }
  }));

test("a response of the kitchen sink can have any body where its route declares none, and nowhere else", () =>
  captureLogs(["fw"], async () => {
    await using sink = await createKitchenSink();
    const found = [...placedOf(await sink.app.openApi()).values()].flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) =>
        "content" in response && "*/*" in (response.content ?? {})
          ? [`${operation.operationId.split("Controller.").at(-1)} ${status}`]
          : []
      )
    );
    assert.deepEqual(found.sort(), [
      "answerByWhich 203",
      "anyOthers 200",
      "bothParts 200",
      "oneOfTwo 200",
      "optionalLast 200",
      "optionalLast.without_number 200",
      "wildcard 200",
      "wildcard.without_wildcard 200",
      "without_schema 200",
    ]);
  }));

test("what good requests to the kitchen sink send satisfies the document", () =>
  captureLogs(["fw"], async () => {
    await using sink = await createKitchenSink();
    const document = await sink.app.openApi();
    using schemas = new EmbeddedSchemas(document);
    const placed = placedOf(document);
    const refused: string[] = [];
    const check = async (what: string, value: unknown, at: readonly string[]) => {
      const satisfies = await schemas.checker(pointerOf(...at));
      if (!satisfies(value)) refused.push(`${what}: ${JSON.stringify(value)}`);
    };
    for (const { operationId, path, init } of goodRequests("TOKEN")) {
      const { operation, at } = placed.get(operationId) ?? assert.fail(operationId);
      const sent = { template: at[1] ?? "", path, headers: new Headers(init?.headers) };
      const parameters = sentParameters(operation, sent);
      const required = operation.parameters?.filter(({ required }) => required) ?? [];
      for (const { name } of required) {
        if (!parameters.some((sent) => sent.name === name)) refused.push(`${operationId} ${name}`);
      }
      for (const { index, name, value } of parameters) {
        await check(`${operationId} ${name}`, value, [...at, "parameters", `${index}`, "schema"]);
      }
      if (init?.json === undefined) continue;
      const ofBody = ["requestBody", "content", "application/json", "schema"];
      await check(`${operationId} body`, init.json, [...at, ...ofBody]);
    }
    assert.deepEqual(refused, []);
  }));

test("the schemas of the kitchen sink's components are its dtos, once unless input and output differ", () =>
  captureLogs(["fw"], async () => {
    await using sink = await createKitchenSink();
    const { components } = await sink.app.openApi();
    const names = Object.keys(components?.schemas ?? {});
    const [unnamed, named] = [true, false].map((wanted) =>
      names.filter((name) => /^Schema\d+$/.test(name) === wanted)
    );
    assert.deepEqual(named?.sort(), [
      "Address",
      "ArktypeChanged",
      "ArktypeChanging",
      "ArktypeKinds",
      "Category",
      "Changed",
      "Changing",
      "Circle",
      "Comment",
      "Failure",
      "FailureIssue",
      "Folder",
      "Formats",
      "Kinds",
      "Left",
      "Link",
      "Money",
      "Note",
      "Numbers",
      "Person",
      "Product",
      "ProductInput",
      "Range",
      "RangeInput",
      "Receipt",
      "Shape",
      "Square",
      "Stored",
      "Upload",
      "ZodChanged",
      "ZodChanging",
      "ZodKinds",
    ]);
    const texts = unnamed?.map((name) => {
      return JSON.stringify(components?.schemas?.[name]).replaceAll(`/${name}"`, '/itself"');
    });
    assert.equal(new Set(texts).size, texts?.length, `some are the same: ${texts?.join("\n")}`);
  }));

test("parameters of the kitchen sink have the defaults of all three libraries", () =>
  captureLogs(["fw"], async () => {
    await using sink = await createKitchenSink();
    const operations = [...placedOf(await sink.app.openApi()).values()];
    const defaults = operations.flatMap(({ operation: { operationId, parameters = [] } }) =>
      parameters.filter(({ schema, in: where }) => "default" in schema && where !== "path").map(
        ({ name, schema }) => [`${operationId.split(".").at(-1)} ${name}`, schema.default],
      )
    );
    assert.deepEqual(Object.fromEntries(defaults), {
      "addresses order": "asc",
      "addresses take": 20,
      "anyOthers page": "1",
      "bothParts page": 1,
      "everyPlace max": 20,
      "everyPlace only_new": "false",
      "everyPlace tags": [],
      "everyPlace text": "none",
      "everyPlace x-retries": 0,
      "listOnSale sort": "name",
      "listOnSale take": 20,
      "listOnSale x-currency": "EUR",
      "numbers order": "asc",
    });
  }));

test("nothing that a request has to bring is described as read-only", () =>
  captureLogs(["fw"], async () => {
    await using sink = await createKitchenSink();
    const document = await sink.app.openApi();
    // zod writes it for `readonly()`, but in OpenAPI it means that requests do not contain it
    assert.equal(JSON.stringify(document).includes('"readOnly":true'), false);
  }));

test("the kitchen sink warns of the one schema whose library offers no JSON Schema", () =>
  captureLogs(["fw", "openapi"], async (records) => {
    await using sink = await createKitchenSink();
    await sink.app.ready();
    assert.deepEqual(records.map(({ level, message }) => [level, message.join("")]), [[
      "warning",
      "The body of POST /api/v1/inputs/bodies/undocumented: home-made offers no JSON Schema of it, so " +
      'it is described as "any"',
    ]]);
  }));

test("the kitchen sink serves document and page at the paths of its options, and nowhere else", () =>
  captureLogs(["fw"], async () => {
    await using sink = await createKitchenSink();
    const found = [];
    for (
      const path of [
        "/specs/api.json",
        "/specs/api.yaml",
        "/specs/manual",
        "/specs/manual/oauth2-redirect",
        "/openapi.json",
        "/openapi.yaml",
        "/docs",
        "/api/v1/specs/api.json",
      ]
    ) {
      const response = await sink.app.request(path);
      const [type] = (response.headers.get("content-type") ?? "").split(";");
      found.push([path, response.status, type]);
    }
    assert.deepEqual(found, [
      ["/specs/api.json", 200, "application/json"],
      ["/specs/api.yaml", 200, "application/yaml"],
      ["/specs/manual", 200, "text/html"],
      ["/specs/manual/oauth2-redirect", 200, "text/html"],
      ["/openapi.json", 404, FAILURE_MEDIA_TYPE],
      ["/openapi.yaml", 404, FAILURE_MEDIA_TYPE],
      ["/docs", 404, FAILURE_MEDIA_TYPE],
      ["/api/v1/specs/api.json", 404, FAILURE_MEDIA_TYPE],
    ]);
    const page = await (await sink.app.request("/specs/manual")).text();
    for (const part of ["<title>Kitchen sink</title>", "/scalar/", '"docs"', '"read"']) {
      assert.ok(page.includes(part), part);
    }
  }));
