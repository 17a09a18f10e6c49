import assert from "node:assert/strict";
import type { Change } from "../../../../src/testing/prove/contract/change.ts";
import { compareDocuments } from "../../../../src/testing/prove/contract/compare_documents.ts";
import { RULES } from "../../../../src/testing/prove/contract/rules.ts";
import { test } from "../../../support/test.ts";
import { DOCUMENT_CHANGES, NOW } from "./document_changes.ts";
import { documentOf, type Json, receiving, sending } from "./documents.ts";
import { SCHEMA_CHANGES } from "./schema_changes.ts";

/** Writes a change as the table does. */
function lineOf({ operation, where, change, isBreaking }: Change): string {
  return [isBreaking ? "!" : "", operation, where, change].filter((word) => word).join(" ");
}

function compare(base: Json, current: Json): readonly Change[] {
  const copies = [base, current].map((document) => structuredClone(document));
  return compareDocuments(copies[0], copies[1], { now: () => NOW });
}

for (const { name, base, current, breaksInput, breaksOutput } of SCHEMA_CHANGES) {
  for (
    const [direction, bodyOf, isBreaking] of [
      ["a request", receiving, breaksInput],
      ["a response", sending, breaksOutput],
    ] as const
  ) {
    const words = isBreaking ? "breaks" : "keeps";
    test(`compareDocuments() finds that ${name} in ${direction}: it ${words} clients`, () => {
      const [was, is] = [base, current].map((schema) => documentOf({ "POST /a": bodyOf(schema) }));
      const changes = compare(was!, is!);
      assert.equal(changes.some((each) => each.isBreaking), isBreaking, JSON.stringify(changes));
      for (const { where } of changes) {
        assert.ok(where.startsWith(direction === "a request" ? "body" : "200"), where);
      }
    });
  }
}

for (const { name, base, current, changes } of DOCUMENT_CHANGES) {
  test(`compareDocuments() reports a document in which this changes: ${name}`, () => {
    assert.deepEqual(compare(base, current).map(lineOf), changes);
  });
}

test("compareDocuments() names the rule of a change, and the reason", () => {
  const [base, current] = [{ type: "integer" }, { type: "number" }].map((schema) =>
    documentOf({ "GET /a": sending(schema) })
  );
  assert.deepEqual(compare(base!, current!), [{
    operation: "GET /a",
    where: "200",
    change: "is number, was integer",
    rule: "typeAdded",
    isBreaking: true,
    reason: RULES.typeAdded.reason,
  }]);
});

test("compareDocuments() reports a change of a shared schema in each operation that has it", () => {
  const of = (schema: Json): Json => ({
    ...documentOf({
      "GET /a": sending({ $ref: "#/components/schemas/Node" }),
      "GET /b": sending({ type: "array", items: { $ref: "#/components/schemas/Node" } }),
    }),
    components: { schemas: { Node: schema } },
  });
  const next = { $ref: "#/components/schemas/Node" };
  const base = of({ type: "object", properties: { next, name: { type: "string" } } });
  const current = of({ type: "object", properties: { next } });
  assert.deepEqual(compare(base, current).map(lineOf), [
    '! GET /a 200 lost "name"',
    '! GET /b 200[] lost "name"',
  ]);
});

test("compareDocuments() ends for schemas that grow in themselves", () => {
  const node = { $ref: "#/components/schemas/Node" };
  const of = (value: Json): Json => ({
    ...documentOf({ "GET /a": sending(node) }),
    components: {
      schemas: {
        Node: {
          allOf: [{ type: "object", properties: { next: node } }, {
            $ref: "#/components/schemas/More",
          }],
        },
        More: { anyOf: [{ type: "object", properties: { next: { allOf: [node, value] } } }, node] },
      },
    },
  });
  const [base, current] = [of({ required: ["a"] }), of({ required: ["b"] })];
  assert.deepEqual(compare(base, base), []);
  assert.ok(compare(base, current).some((change) => change.isBreaking));
});

test("compareDocuments() refuses what it cannot read, and says why", () => {
  const document = documentOf({ "GET /a": sending({ $ref: "#/components/schemas/None" }) });
  for (
    const [base, message] of [
      [{}, "it has no version of OpenAPI"],
      [{ ...document, openapi: "3.0.3" }, "it is of OpenAPI 3.0.3"],
      [document, "there is nothing at #/components/schemas/None"],
      [documentOf({ "GET /a": sending({ $ref: "other.json" }) }), "other.json is not in it"],
    ] as const
  ) {
    assert.throws(() => compareDocuments(base, document), (error: Error) => {
      assert.ok(error instanceof TypeError);
      assert.ok(error.message.startsWith(`Cannot read document: ${message}`), error.message);
      return true;
    });
  }
});
