/**
 * The tests of the controllers and services of resources.
 *
 * @module
 */
import type { ResourceTemplate } from "./resource_code.ts";
import { tenantReferences } from "./resource_service.ts";

/** Returns the test of the controller of a resource. */
export function controllerTest(template: ResourceTemplate): string {
  const { one, many, key, fields, parents, prefix } = template;
  const { tenant } = fields;
  const headers = tenant === undefined ? "" : `, headers: await tokenOf("a")`;
  const read = tenant === undefined ? "" : `, { headers: await tokenOf("a") }`;
  const db = parents.rows === "" ? "" : `  const db = app.get(Db);\n${parents.rows}`;
  const rows = `${db}  const valid = factory(${one.pascal}${parents.values});`;
  const refersToTenant = tenantReferences(fields).some(({ isNullable }) => !isNullable);
  const foreign = refersToTenant
    ? "  assert.equal((await app.request(path, { json, headers })).status, 409); // refers to theirs\n"
    : "";
  // the tenant is not part of a body
  const json = (name: string) =>
    tenant === undefined
      ? `const ${name} = valid.json();`
      : `const { ${tenant}: _${name}, ...${name} } = valid.json();`;
  const page = (listed: string) => `{ rows: [${listed}], next: null }`;
  return `import { type FwApplication, provide } from "@fw/fw";
${tenant === undefined ? "" : 'import { JwtKey, JwtService } from "@fw/fw/authn";\n'}${
    testImports(template)
  }import { ${many.pascal}Module } from "./${many.snake}_module.ts";

const overrides = [provide(Db, openTestDatabase)];
const path = "/v1/${prefix}";
${tenant === undefined ? WITHOUT_TOKENS : withTokens(tenant)}
Deno.test("${many.pascal}Controller creates, lists, finds, changes and deletes ${many.prose}", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides, setUp });
${rows}
  ${json("json")}
  const created = await app.request(path, { json${headers} });
  assert.equal(created.status, 201);
  const row = await created.json();
  assert.deepEqual(row, { ...row, ...json });
  const own = created.headers.get("location") ?? "";
  assert.equal(own, \`\${path}/\${row.${key}}\`);

  const listed = await app.request(path${read});
  assert.deepEqual(await listed.json(), ${page("row")});
  assert.deepEqual(await (await app.request(own${read})).json(), row);

  ${json("changes")}
  const response = await app.request(own, { method: "PATCH", json: changes${headers} });
  const changed = await response.json();
  assert.deepEqual(changed, { ...changed, ...changes });

  const deleted = await app.request(own, { method: "DELETE"${headers} });
  assert.deepEqual(await deleted.json(), changed);
  assert.equal((await app.request(own${read})).status, 404);
});
${
    tenant === undefined ? "" : `
Deno.test("${many.pascal}Controller hides the ${many.prose} of another tenant", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides, setUp });
${rows}
  ${json("json")}
  const created = await app.request(path, { json${headers} });
  const own = created.headers.get("location") ?? "";
  const headers = await tokenOf("b");
  assert.deepEqual(await (await app.request(path, { headers })).json(), ${page("")});
  assert.equal((await app.request(own, { headers })).status, 404);
  assert.equal((await app.request(own, { method: "DELETE", headers })).status, 404);
${foreign}  assert.equal((await app.request(path)).status, 401);
});
`
  }
Deno.test("${many.pascal}Controller refuses what is not ${one.withArticle()} with 422", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides, setUp });
  const response = await app.request(path, { json: "not an object"${headers} });
  assert.equal(response.status, 422);
  const [issue] = (await response.json()).errors;
  assert.equal(issue.in, "body");
});
`;
}

/** Returns the test of the service of a resource. */
export function serviceTest(template: ResourceTemplate): string {
  const { one, many, key, fields: { tenant }, parents } = template;
  const first = tenant === undefined ? "" : `"a", `;
  const db = parents.rows === "" ? "" : `  const db = app.get(Db);\n${parents.rows}`;
  return `import { module, provide } from "@fw/fw";
${testImports(template)}import * as v from "valibot";
import { Create${one.pascal}Dto } from "./${one.snake}_dto.ts";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

const TestModule = module({ providers: [provide(Db, openTestDatabase), ${many.pascal}Service] });

Deno.test("${many.pascal}Service.one() finds ${one.withArticle()} until it is deleted", async () => {
  await using app = await createTestApplication(TestModule);
  const service = app.get(${many.pascal}Service);
${db}  const data = v.parse(Create${one.pascal}Dto, factory(${one.pascal}${parents.values}).json());
  const row = await service.create(${first}data);
  const key = { ${key}: row.${key} };
  assert.deepEqual(await service.one(${first}key), row);
  await service.delete(${first}key);
  await assert.rejects(service.one(${first}key), { message: "No such ${one.prose}" });
});
`;
}

const WITHOUT_TOKENS = `const setUp = (app: FwApplication) => app.enableUriVersioning();
`;

function withTokens(tenant: string): string {
  return `const key = await JwtKey.generate();
const tokens = new JwtService({ issuer: "test", audience: "test", key });
const setUp = (app: FwApplication) => app.enableUriVersioning().useAuthn(tokens);

/** Returns the headers of a caller of a tenant. */
async function tokenOf(${tenant}: string): Promise<{ authorization: string }> {
  const token = await tokens.sign({ subject: "ann", claims: { ${tenant} } });
  return { authorization: \`Bearer \${token}\` };
}
`;
}

function testImports({ one, parents, database, testDatabase }: ResourceTemplate): string {
  return `import { createTestApplication, factory } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { Db } from "${database}";
import { openTestDatabase } from "${testDatabase}";
${parents.imports}import { ${one.pascal} } from "./${one.snake}_model.ts";
`;
}
