/**
 * The services of resources.
 *
 * @module
 */
import type { CodeAndTest } from "../code_kind.ts";
import type { ResourceTemplate } from "./resource_template.ts";

/** Gives the service of a resource, with its test. */
export function resourceService(template: ResourceTemplate): CodeAndTest {
  const { one, many, accessor, database, testDatabase, pageQuery } = template;
  return {
    code: `import { inject, NotFoundException } from "@fw/fw";
import { Db } from "${database}";
import type { PageQuery } from "${pageQuery}";
import type { Create${one.pascal}Dto, Update${one.pascal}Dto } from "./${one.snake}_dto.ts";
import type { ${one.pascal} } from "./${one.snake}_model.ts";

export class ${many.pascal}Service {
  readonly #db = inject(Db);

  create(data: Create${one.pascal}Dto): Promise<${one.pascal}> {
    return this.#db.${accessor}.create({ data });
  }

  async page({ skip, take }: PageQuery): Promise<{ rows: ${one.pascal}[]; total: number }> {
    const rows = await this.#db.${accessor}.findMany({ skip, take });
    return { rows, total: await this.#db.${accessor}.count() };
  }

  async one(id: number): Promise<${one.pascal}> {
    return await this.#db.${accessor}.findUnique({ where: { id } }) ??
      NotFoundException.throw("No such ${one.prose}");
  }

  update(id: number, data: Update${one.pascal}Dto): Promise<${one.pascal}> {
    return this.#db.${accessor}.update({ where: { id }, data });
  }

  delete(id: number): Promise<${one.pascal}> {
    return this.#db.${accessor}.delete({ where: { id } });
  }
}
`,
    test: `import { provide } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { Db } from "${database}";
import { openTestDatabase } from "${testDatabase}";
import { ${many.pascal}Module } from "./${many.snake}_module.ts";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

const overrides = [provide(Db, openTestDatabase)];

Deno.test("${many.pascal}Service.page() gives a page, and how many there are", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides });
  const service = app.get(${many.pascal}Service);
  const first = await service.create({ name: "Ada" });
  const second = await service.create({ name: "Bob" });
  assert.deepEqual(await service.page({ skip: 0, take: 20 }), { rows: [first, second], total: 2 });
  assert.deepEqual(await service.page({ skip: 1, take: 1 }), { rows: [second], total: 2 });
});

Deno.test("${many.pascal}Service.one() refuses an id that does not exist", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides });
  const missing = app.get(${many.pascal}Service).one(1);
  await assert.rejects(missing, { message: "No such ${one.prose}" });
});
`,
  };
}
