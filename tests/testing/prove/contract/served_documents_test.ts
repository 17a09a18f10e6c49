/** Comparisons of a document that the framework makes of everything that routes can declare. */
import assert from "node:assert/strict";
import type { JsonSchema } from "../../../../src/openapi/json_schema/json_schema.ts";
import { compareDocuments } from "../../../../src/testing/prove/contract/compare_documents.ts";
import { createKitchenSink, KITCHEN_SINK_OPTIONS } from "../../../openapi/kitchen_sink.ts";
import { test, testOnce } from "../../../support/test.ts";

interface Document {
  readonly paths: Readonly<Record<string, Record<string, unknown>>>;
  readonly components: {
    readonly schemas: Record<string, JsonSchema>;
    readonly responses: Record<string, object>;
  };
}

async function kitchenSinkDocument(): Promise<Document> {
  await using sink = await createKitchenSink();
  return await (await (await sink.app.ready()).request(KITCHEN_SINK_OPTIONS.jsonPath)).json();
}

test("compareDocuments() finds no change of the kitchen sink", async () => {
  const document = await kitchenSinkDocument();
  assert.ok(Object.keys(document.paths).length > 50);
  assert.deepEqual(compareDocuments(document, structuredClone(document)), []);
});

testOnce("compareDocuments() finds each removed operation of the kitchen sink", async () => {
  const document = await kitchenSinkDocument();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const current = structuredClone(document);
      delete current.paths[path]![method];
      const [change, ...others] = compareDocuments(document, current, { now: () => 0 });
      assert.deepEqual(others, []);
      assert.equal(change?.operation, `${method.toUpperCase()} ${path}`);
      const { deprecated, "x-sunset": sunset } = Object(operation);
      assert.equal(change.isBreaking, !deprecated || sunset !== undefined);
    }
  }
}, { slow: true });

testOnce("compareDocuments() finds each removed member of the kitchen sink", async () => {
  const document = await kitchenSinkDocument();
  let removed = 0;
  for (const name of usedSchemas(document)) {
    const { properties, required = [], ...rest } = document.components.schemas[name]!;
    for (const member of Object.keys(Object(properties))) {
      const current = structuredClone(document);
      const { [member]: _, ...others } = Object(properties);
      current.components.schemas[name] = {
        ...rest,
        properties: others,
        required: (required as string[]).filter((each) => each !== member),
      };
      const changes = compareDocuments(document, current);
      assert.ok(changes.some(({ isBreaking }) => isBreaking), `${name}.${member}`);
      removed++;
    }
  }
  assert.ok(removed > 100, String(removed));
}, { slow: true });

/** Lists the schemas that operations use, also inside of others. */
function usedSchemas({ paths, components }: Document): readonly string[] {
  const used = new Map<string, unknown>();
  const visit = (value: unknown): void => {
    for (const [, kind, name = ""] of JSON.stringify(value).matchAll(REFERENCE)) {
      const key = `${kind} ${name}`;
      if (used.has(key)) continue;
      used.set(key, undefined);
      visit(kind === "schemas" ? components.schemas[name] : components.responses[name]);
    }
  };
  visit(paths);
  return [...used.keys()].filter((key) => key.startsWith("schemas ")).map((key) => key.slice(8));
}

const REFERENCE = /"#\/components\/(schemas|responses)\/([^"/]+)"/g;
