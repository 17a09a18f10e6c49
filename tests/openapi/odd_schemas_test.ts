import { Validator } from "@seriousme/openapi-schema-validator";
import assert from "node:assert/strict";
import { controller, FwFactory, module, route } from "../../mod.ts";
import type { OpenApiDocument } from "../../src/openapi/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { EmbeddedSchemas, pointerOf } from "./embedded_schemas.ts";
import { ODD_SCHEMAS, type OddSchema } from "./odd_schemas.ts";
import { installRedocly, lint } from "./redocly.ts";

await installRedocly(); // the first time it takes longer than a test may

/** Creates the document of an application whose body and response have one schema. */
async function documentOf({ name, schema }: OddSchema): Promise<OpenApiDocument> {
  class Controller extends controller() {
    odd = route.post(
      `/${name}`,
      { body: schema, response: schema, openapi: { operationId: name } },
      () => undefined,
    );
  }
  await using app = await FwFactory.create(module({ controllers: [Controller] }));
  const response = await app.enableOpenApi().request("/openapi.json");
  return await response.json();
}

/** Makes one document of many, which is faster to check. */
function merged(documents: readonly OpenApiDocument[]): object {
  const components = documents.map(({ components }) => components);
  return {
    ...documents[0],
    paths: Object.assign({}, ...documents.map(({ paths }) => paths)),
    components: {
      schemas: Object.assign({}, ...components.map((each) => each?.schemas)),
      responses: Object.assign({}, ...components.map((each) => each?.responses)),
    },
  };
}

test(
  "odd schemas make documents that both validators and @redocly/cli (run by Node) pass",
  () =>
    captureLogs(["fw"], async () => {
      const wrong: unknown[] = [];
      const documents: OpenApiDocument[] = [];
      for (const odd of ODD_SCHEMAS) {
        await documentOf(odd).then(
          (document) => documents.push(document),
          (error) => wrong.push(`${odd.name}: ${error}`),
        );
      }
      const document = merged(documents);
      using schemas = new EmbeddedSchemas(document);
      wrong.push(...await schemas.complaints());
      const { errors = [] } = await new Validator().validate({ ...structuredClone(document) });
      wrong.push(...errors);
      const problems = (await lint({ document })).get("document") ?? [];
      wrong.push(...problems.filter(({ severity }) => severity === "error"));
      assert.deepEqual(wrong, []);
    }),
  { slow: true },
);

test("the descriptions of odd schemas accept and refuse the same values as the schemas", () =>
  captureLogs(["fw"], async () => {
    const wrong: unknown[] = [];
    for (const odd of ODD_SCHEMAS) {
      await misfitsOf(odd).then(
        (misfits) => wrong.push(...misfits),
        (error) => wrong.push(`${odd.name}: ${error}`),
      );
    }
    assert.deepEqual(wrong, []);
  }));

async function misfitsOf(odd: OddSchema): Promise<readonly string[]> {
  using schemas = new EmbeddedSchemas(await documentOf(odd));
  const checkerAt = (...keys: readonly string[]) => {
    const ofJson = ["content", "application/json", "schema"];
    return schemas.checker(pointerOf("paths", `/${odd.name}`, "post", ...keys, ...ofJson));
  };
  const [isTaken, isGiven] = [await checkerAt("requestBody"), await checkerAt("responses", "200")];
  const misfits: string[] = [];
  for (const value of odd.takes) {
    const text = `${odd.name} ${JSON.stringify(value)}`;
    const result = await odd.schema["~standard"].validate(value);
    assert.ok(!result.issues, `${text} is refused`);
    if (!isTaken(value)) misfits.push(`${text} is not taken`);
    const given: unknown = JSON.parse(JSON.stringify(result.value));
    if (!isGiven(given)) misfits.push(`${text} gives what is not told: ${JSON.stringify(given)}`);
  }
  for (const value of odd.refuses) {
    const text = `${odd.name} ${JSON.stringify(value)}`;
    const result = await odd.schema["~standard"].validate(value);
    assert.ok(result.issues, `${text} is taken`);
    if (isTaken(value)) misfits.push(`${text} is not refused`);
  }
  return misfits;
}
