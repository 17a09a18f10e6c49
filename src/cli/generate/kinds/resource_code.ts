/**
 * The controllers and services of resources.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import type { CodeAndTest } from "../kind.ts";

/** The names of a resource, and the specifiers of files that it imports. */
export interface ResourceTemplate {
  /** The singular. */
  readonly one: EntityName;
  /** The plural. */
  readonly many: EntityName;
  /** The name of its repository. */
  readonly accessor: string;
  /** The path of its routes, below the prefix and the version: `admin/cats`. */
  readonly prefix: string;
  /** The specifier of the file of the database. */
  readonly database: string;
  /** The specifier of the file that opens the database of tests. */
  readonly testDatabase: string;
  /** The specifier of the file of `IdParam`. */
  readonly idParam: string;
  /** The specifier of the file of `PageQuery`. */
  readonly pageQuery: string;
}

/** Returns the controller of a resource, with its test. */
export function resourceController(template: ResourceTemplate): CodeAndTest {
  const { one, many, prefix, database, testDatabase, idParam, pageQuery } = template;
  return {
    code: `import { controller, inject, route } from "@fw/fw";
import * as v from "valibot";
import { IdParam } from "${idParam}";
import { PageQuery } from "${pageQuery}";
import { ${one.pascal}Row, Create${one.pascal}Dto, Update${one.pascal}Dto } from "./${one.snake}_dto.ts";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

export class ${many.pascal}Controller extends controller("${prefix}", { version: "v1" }) {
  readonly #${many.camel} = inject(${many.pascal}Service);

  create = route.post("/", {
    body: Create${one.pascal}Dto,
    response: ${one.pascal}Row,
    status: 201,
    openapi: {
      summary: "Create ${one.withArticle()}",
      responses: {
        201: { description: "The ${one.prose}", headers: { Location: "The path of the ${one.prose}" } },
      },
    },
  }, async ({ body }, c) => {
    const row = await this.#${many.camel}.create(body);
    c.header("Location", \`\${c.req.path.replace(/\\/$/, "")}/\${row.id}\`);
    return row;
  });

  list = route.get("/", {
    query: PageQuery,
    response: v.array(${one.pascal}Row),
    openapi: {
      summary: "List ${many.prose}",
      responses: {
        200: {
          description: "A page of ${many.prose}",
          headers: { "X-Total-Count": "The number of all ${many.prose}" },
        },
      },
    },
  }, async ({ query }, c) => {
    const { rows, total } = await this.#${many.camel}.page(query);
    c.header("X-Total-Count", String(total));
    return rows;
  });

  one = route.get("/:id", {
    params: IdParam,
    response: ${one.pascal}Row,
    openapi: { summary: "Find ${one.withArticle()}" },
  }, ({ params }) => this.#${many.camel}.one(params.id));

  update = route.patch("/:id", {
    params: IdParam,
    body: Update${one.pascal}Dto,
    response: ${one.pascal}Row,
    openapi: { summary: "Change ${one.withArticle()}" },
  }, ({ params, body }) => this.#${many.camel}.update(params.id, body));

  delete = route.delete("/:id", {
    params: IdParam,
    response: ${one.pascal}Row,
    openapi: { summary: "Delete ${one.withArticle()}" },
  }, ({ params }) => this.#${many.camel}.delete(params.id));
}
`,
    test: `import { type FwApplication, provide } from "@fw/fw";
import { createTestApplication, stub } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { Db } from "${database}";
import { openTestDatabase } from "${testDatabase}";
import { ${many.pascal}Module } from "./${many.snake}_module.ts";

const overrides = [provide(Db, openTestDatabase)];
const setUp = (app: FwApplication) => app.enableUriVersioning();
const path = "/v1/${prefix}";

Deno.test("${many.pascal}Controller creates, lists, finds, changes and deletes ${many.prose}", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides, setUp });
  const created = await app.request(path, { json: { name: "Ada" } });
  assert.equal(created.status, 201);
  const row = await created.json();
  assert.deepEqual(row, { id: row.id, name: "Ada" });
  const own = created.headers.get("location") ?? "";
  assert.equal(own, \`\${path}/\${row.id}\`);

  const listed = await app.request(path);
  assert.equal(listed.headers.get("x-total-count"), "1");
  assert.deepEqual(await listed.json(), [row]);
  assert.deepEqual(await (await app.request(own)).json(), row);

  const changes = { method: "PATCH", json: { name: "Bob" } };
  const changed = await (await app.request(own, changes)).json();
  assert.deepEqual(changed, { ...row, name: "Bob" });

  const deleted = await app.request(own, { method: "DELETE" });
  assert.deepEqual(await deleted.json(), changed);
  assert.equal((await app.request(own)).status, 404);
});

Deno.test("${many.pascal}Controller refuses ${one.withArticle()} without a name with 422", async () => {
  await using app = await createTestApplication(${many.pascal}Module, {
    overrides: [stub(Db, {})], // nothing is stored
    setUp,
  });
  const response = await app.request(path, { json: {} });
  assert.equal(response.status, 422);
  const [issue] = (await response.json()).errors;
  assert.deepEqual([issue.in, issue.field], ["body", "name"]);
});
`,
  };
}

/** Returns the service of a resource, with its test. */
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
    test: `import { module, provide } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { Db } from "${database}";
import { openTestDatabase } from "${testDatabase}";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

const TestModule = module({ providers: [provide(Db, openTestDatabase), ${many.pascal}Service] });

Deno.test("${many.pascal}Service.page() returns a page and the total", async () => {
  await using app = await createTestApplication(TestModule);
  const service = app.get(${many.pascal}Service);
  const first = await service.create({ name: "Ada" });
  const second = await service.create({ name: "Bob" });
  assert.deepEqual(await service.page({ skip: 0, take: 20 }), { rows: [first, second], total: 2 });
  assert.deepEqual(await service.page({ skip: 1, take: 1 }), { rows: [second], total: 2 });
});

Deno.test("${many.pascal}Service.one() refuses an unknown id", async () => {
  await using app = await createTestApplication(TestModule);
  const missing = app.get(${many.pascal}Service).one(1);
  await assert.rejects(missing, { message: "No such ${one.prose}" });
});
`,
  };
}
