/**
 * Modules, services, DTOs and pipes.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { type CodeAndTest, codeKind, type Kind } from "../kind.ts";

/** A module, imported by the one above it. */
export const MODULE: Kind = codeKind({
  name: "module",
  aliases: ["mo"],
  about: "a module, imported by the one above it",
  example: "billing",
  template: moduleTemplate,
  list: "imports",
});

/** Returns an empty module. */
function moduleTemplate({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import { module } from "@fw/fw";

export const ${pascal}Module = module({
  name: "${pascal}Module",
  imports: [],
  providers: [],
  controllers: [],
});
`,
    test: `import { FwFactory } from "@fw/fw";
import { ${pascal}Module } from "./${snake}_module.ts";

Deno.test("${pascal}Module provides what its controllers inject", async () => {
  // A preview builds no provider: it opens no database.
  const app = await FwFactory.create(${pascal}Module, { preview: true });
  await app.close();
});
`,
  };
}

/** A service, listed in the nearest module. */
export const SERVICE: Kind = codeKind({
  name: "service",
  aliases: ["s"],
  about: "a service, listed in the nearest module",
  example: "mail",
  template: serviceTemplate,
  list: "providers",
});

/** Returns a service with one method. */
function serviceTemplate({ pascal, snake, prose }: EntityName): CodeAndTest {
  return {
    code: `export class ${pascal}Service {
  describe(): string {
    return "${prose}";
  }
}
`,
    test: `import { module } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { ${pascal}Service } from "./${snake}_service.ts";

Deno.test("${pascal}Service.describe() returns its purpose", async () => {
  const TestModule = module({ providers: [${pascal}Service] });
  await using app = await createTestApplication(TestModule);
  assert.equal(app.get(${pascal}Service).describe(), "${prose}");
});
`,
  };
}

/** A DTO: the schema of a body. */
export const DTO: Kind = codeKind({
  name: "dto",
  aliases: [],
  about: "a DTO: the schema of what is sent",
  example: "create-order",
  template: dtoTemplate,
});

/** Returns a DTO with one field. */
function dtoTemplate({ pascal, snake }: EntityName): CodeAndTest {
  return {
    code: `import { dto } from "@fw/fw";
import * as v from "valibot";

export const ${pascal}Dto = dto(
  "${pascal}Dto",
  v.object({ name: v.pipe(v.string(), v.nonEmpty(), v.maxCodePoints(100)) }),
);
export type ${pascal}Dto = v.InferOutput<typeof ${pascal}Dto>;
`,
    test: `import assert from "node:assert/strict";
import * as v from "valibot";
import { ${pascal}Dto } from "./${snake}_dto.ts";

Deno.test("${pascal}Dto drops fields that it does not declare", () => {
  const given = { name: "Ada", admin: true };
  assert.deepEqual(v.parse(${pascal}Dto, given), { name: "Ada" });
});

Deno.test("${pascal}Dto refuses an empty name", () => {
  assert.equal(v.is(${pascal}Dto, { name: "" }), false);
});
`,
  };
}

/** A pipe: a schema that converts a single value or refuses it. */
export const PIPE: Kind = codeKind({
  name: "pipe",
  aliases: ["pi"],
  about: "a pipe: a schema that converts a single value or refuses it",
  example: "slug",
  template: pipeTemplate,
});

/** Returns a pipe of a text. */
function pipeTemplate({ pascal, snake, camel }: EntityName): CodeAndTest {
  return {
    code: `import * as v from "valibot";

/**
 * Converts a value of a path, a query or a body, or refuses it:
 * \`params: v.object({ ${camel}: ${pascal}Pipe })\`.
 */
export const ${pascal}Pipe = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty("Required"),
);
`,
    test: `import assert from "node:assert/strict";
import * as v from "valibot";
import { ${pascal}Pipe } from "./${snake}_pipe.ts";

Deno.test("${pascal}Pipe trims a text", () => {
  assert.equal(v.parse(${pascal}Pipe, "  text "), "text");
});

Deno.test("${pascal}Pipe refuses a blank text", () => {
  assert.equal(v.is(${pascal}Pipe, "  "), false);
});
`,
  };
}
