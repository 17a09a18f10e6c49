import { Validator } from "@seriousme/openapi-schema-validator";
import assert from "node:assert/strict";
import { parse } from "yaml";
import { FwFactory } from "../../mod.ts";
import { issuer } from "../oauth2/issuer.ts";
import { test } from "../support/test.ts";
import { BREAKAGES, brokenDocument, type Judge } from "./broken_documents.ts";
import { forEachApplication, servedDocuments } from "./described_applications.ts";
import { EmbeddedSchemas, pointerOf } from "./embedded_schemas.ts";
import { ShopModule } from "./kitchen_sink/shop.ts";
import { SHOP_DOCUMENT, SHOP_OPTIONS } from "./kitchen_sink/shop_document.ts";
import { installRedocly, lint } from "./redocly.ts";

await installRedocly(); // the first time it takes longer than a test may
const DOCUMENTS = await servedDocuments();

/** The applications whose documents are checked. */
const APPLICATIONS = [
  "hello",
  "streaming",
  "server_sent_events",
  "web_socket",
  "demo",
  "users",
  "users_with_tokens",
  "edge",
  "oauth2",
  "kitchen_sink",
];

/**
 * The rules of the linter that may warn of a document, and why they do:
 *
 * - `info-license`: documents without a license are valid;
 * - `operation-2xx-response`: a login answers with a redirect;
 * - `operation-4xx-response`: an operation without input, protection and limits has no errors;
 * - `no-unused-components`: components written by hand can be unused, such as the scheme of tokens where
 *   nothing needs a token;
 * - `no-required-schema-properties-undefined`: a record of an enumeration's keys requires all of them,
 *   which it describes by `additionalProperties`.
 */
const WARNINGS: Readonly<Record<string, readonly string[]>> = {
  hello: ["info-license", "operation-4xx-response"],
  streaming: ["info-license"],
  server_sent_events: ["info-license", "operation-4xx-response"],
  web_socket: ["info-license", "operation-2xx-response"],
  demo: ["info-license", "operation-4xx-response"],
  users: ["no-unused-components"],
  users_with_tokens: [],
  edge: [],
  oauth2: ["operation-2xx-response"],
  kitchen_sink: ["no-required-schema-properties-undefined", "no-unused-components"],
};

/** It compiles the schema of all documents once. */
const SERIOUSME = new Validator();

async function complaintsOfSeriousme(document: object): Promise<readonly unknown[]> {
  const specification = { ...structuredClone(document) }; // it resolves references in place
  const { valid, errors } = await SERIOUSME.validate(specification);
  return valid ? [] : [errors ?? "invalid"].flat();
}

async function complaintsOfHyperjump(document: object): Promise<readonly unknown[]> {
  using schemas = new EmbeddedSchemas(document);
  return await schemas.complaints();
}

test("@seriousme/openapi-schema-validator passes the documents of all examples and of the kitchen sink", async () => {
  assert.deepEqual(Object.keys(DOCUMENTS), APPLICATIONS);
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    assert.deepEqual(await complaintsOfSeriousme(document), [], name);
  }
});

test("@hyperjump/json-schema passes the documents of all examples and of the kitchen sink, with every schema in them", async () => {
  assert.deepEqual(Object.keys(DOCUMENTS), APPLICATIONS);
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    assert.deepEqual(await complaintsOfHyperjump(document), [], name);
  }
});

test("@redocly/cli, run by Node, finds no error by its recommended rules in the documents of all examples and of the kitchen sink", async () => {
  assert.deepEqual(Object.keys(DOCUMENTS), APPLICATIONS);
  const problems = [...await lint(DOCUMENTS)];
  const errors = problems.flatMap(([name, problems]) =>
    problems.filter(({ severity }) => severity === "error").map((problem) => [name, problem])
  );
  assert.deepEqual(errors, []);
  const warnings = problems.map(([name, problems]) =>
    [name, [...new Set(problems.map(({ ruleId }) => ruleId))].sort()] as const
  );
  assert.deepEqual(Object.fromEntries(warnings), WARNINGS);
});

test(
  "a document that is broken is refused by the validators and by the linter (run by Node) that can notice",
  async () => {
    const documents = new Map(BREAKAGES.map((each) => [each.what, brokenDocument(each)]));
    documents.set("nothing", SHOP_DOCUMENT);
    const linted = await lint(Object.fromEntries(documents));
    const refusals: [string, Judge[]][] = [];
    for (const [what, document] of documents) {
      const errors = linted.get(what)?.filter(({ severity }) => severity === "error") ?? [];
      const complaints = {
        seriousme: await complaintsOfSeriousme(document),
        hyperjump: await complaintsOfHyperjump(document),
        redocly: errors,
      };
      const refusing = Object.entries(complaints).filter(([, said]) => said.length > 0);
      refusals.push([what, refusing.map(([judge]) => judge as Judge)]);
    }
    assert.deepEqual(Object.fromEntries(refusals), {
      ...Object.fromEntries(BREAKAGES.map(({ what, refusedBy }) => [what, refusedBy])),
      nothing: [],
    });
  },
  { slow: true },
);

test("the document of the shop is exactly what it declares", async () => {
  await using app = await FwFactory.create(ShopModule);
  app.setGlobalPrefix("api")
    .enableUriVersioning({ defaultVersion: "v1" })
    .useRateLimit()
    .useOAuth2((await issuer()).verifier)
    .enableOpenApi(SHOP_OPTIONS);
  const document = await (await app.request("/openapi.json")).json();
  assert.deepEqual(document, JSON.parse(JSON.stringify(SHOP_DOCUMENT)));
});

test("every default in the documents of all examples and of the kitchen sink satisfies its schema", async () => {
  let count = 0;
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    using schemas = new EmbeddedSchemas(document);
    for (const { pointer, value } of schemas.defaults) {
      count++;
      const satisfies = await schemas.checker(pointer);
      assert.ok(satisfies(value), `${name}: ${pointer}: ${JSON.stringify(value)}`);
    }
  }
  assert.ok(count > 20, `there are ${count} defaults`);
});

test("every problem document that the examples describe has an example, which satisfies its schema", async () => {
  const without: string[] = [];
  let count = 0;
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    using schemas = new EmbeddedSchemas(document);
    for (const { at, example } of problemsIn(document, [])) {
      if (example === undefined) {
        without.push(`${name}: ${at.join(" ")}`);
        continue;
      }
      const satisfies = await schemas.checker(pointerOf(...at, "schema"));
      count++;
      assert.ok(satisfies(example), `${name}: ${at.join(" ")}: ${JSON.stringify(example)}`);
    }
  }
  assert.deepEqual(without, []);
  assert.ok(count > 40, `there are ${count} examples`);
});

/** Lists the problems in a part of a document, with their examples. */
function* problemsIn(
  part: unknown,
  at: readonly string[],
): Generator<{ readonly at: readonly string[]; readonly example: unknown }> {
  if (typeof part !== "object" || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    const here = [...at, key];
    if (key === "application/problem+json") yield { at: here, example: value.example };
    else yield* problemsIn(value, here);
  }
}

test("/openapi.yaml of all examples and of the kitchen sink is the same document as /openapi.json", async () => {
  const names: string[] = [];
  await forEachApplication(async ({ name, app, jsonPath }) => {
    names.push(name);
    const json = await app.request(jsonPath);
    const yaml = await app.request(jsonPath.replace(/json$/, "yaml"));
    assert.equal(yaml.headers.get("content-type"), "application/yaml", name);
    assert.deepEqual(parse(await yaml.text()), await json.json(), name);
  });
  assert.deepEqual(names, APPLICATIONS);
});
