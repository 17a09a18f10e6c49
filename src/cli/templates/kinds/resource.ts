/**
 * Resources: a whole CRUD over HTTP, but for its model.
 *
 * @module
 */
import type { EntityName } from "../../entity_name.ts";
import type { CodeAndTest } from "./building_blocks.ts";

/** What a resource is made for: one of many, and where it finds what it shares with others. */
export interface ResourceTemplate {
  /** The name of one. */
  readonly one: EntityName;
  /** The name of many. */
  readonly many: EntityName;
  /** The specifiers of the files that are not in its folder. */
  readonly database: string;
  readonly testDatabase: string;
  readonly idParam: string;
  readonly pageQuery: string;
}

/** What of a path is the key of a row; shared by all resources. */
export const ID_PARAM = `import { dto } from "@fw/fw";
import * as v from "valibot";

/** The key of a row, in a path. */
export const IdParam = dto(
  "IdParam",
  v.object({
    id: v.pipe(
      v.string(),
      v.regex(/^\\d+$/, "Expected a whole number"),
      v.transform(Number),
      v.safeInteger(),
    ),
  }),
);
`;

/** What of a query chooses a page; shared by all resources. */
export const PAGE_QUERY = `import { dto } from "@fw/fw";
import * as v from "valibot";

const WholeNumber = v.pipe(
  v.string(),
  v.regex(/^\\d+$/, "Expected a whole number"),
  v.transform(Number),
);

/** Which rows of a list: 20 from the first on, and at most 100. */
export const PageQuery = dto(
  "PageQuery",
  v.object({
    skip: v.optional(v.pipe(WholeNumber, v.safeInteger()), "0"),
    take: v.optional(
      v.pipe(WholeNumber, v.minValue(1), v.maxValue(100)),
      "20",
    ),
  }),
);
export type PageQuery = v.InferOutput<typeof PageQuery>;
`;

/** Gives the module of a resource. */
export function resourceModule({ many, database }: ResourceTemplate): string {
  return `import { type Module, module } from "@fw/fw";
import { DatabaseModule } from "${database}";
import { ${many.pascal}Controller } from "./${many.snake}_controller.ts";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

export const ${many.pascal}Module: Module = module({
  name: "${many.pascal}Module",
  imports: [DatabaseModule],
  providers: [${many.pascal}Service],
  controllers: [${many.pascal}Controller],
});
`;
}

/** Gives the DTOs of a resource: what is sent to it, and what it sends. */
export function resourceDto({ one }: ResourceTemplate): string {
  return `import { dto } from "@fw/fw";
import * as v from "valibot";

const Name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(100));

/** What ${one.withArticle()} is made of. */
export const Create${one.pascal}Dto = dto("Create${one.pascal}Dto", v.object({ name: Name }));
export type Create${one.pascal}Dto = v.InferOutput<typeof Create${one.pascal}Dto>;

/** What of ${one.withArticle()} is to be changed. */
export const Update${one.pascal}Dto = dto(
  "Update${one.pascal}Dto",
  v.object({ name: v.optional(Name) }),
);
export type Update${one.pascal}Dto = v.InferOutput<typeof Update${one.pascal}Dto>;

/** ${capitalised(one.withArticle())}, as it is sent: what is not declared here never is. */
export const ${one.pascal}Dto = dto(
  "${one.pascal}Dto",
  v.object({ id: v.pipe(v.number(), v.integer()), name: v.string() }),
);
`;
}

/** Gives the service of a resource, with its test. */
export function resourceService(template: ResourceTemplate): CodeAndTest {
  const { one, many, database, testDatabase, pageQuery } = template;
  return {
    code: `import { inject, NotFoundException } from "@fw/fw";
import { Db } from "${database}";
import type { PageQuery } from "${pageQuery}";
import type { Create${one.pascal}Dto, Update${one.pascal}Dto } from "./${one.snake}_dto.ts";
import type { ${one.pascal} } from "./${one.snake}_model.ts";

export class ${many.pascal}Service {
  readonly #db = inject(Db);

  create(data: Create${one.pascal}Dto): Promise<${one.pascal}> {
    return this.#db.${one.camel}.create({ data });
  }

  page({ skip, take }: PageQuery): Promise<${one.pascal}[]> {
    return this.#db.${one.camel}.findMany({ skip, take });
  }

  count(): Promise<number> {
    return this.#db.${one.camel}.count();
  }

  async one(id: number): Promise<${one.pascal}> {
    return await this.#db.${one.camel}.findUnique({ where: { id } }) ??
      NotFoundException.throw("No such ${one.prose}");
  }

  update(id: number, data: Update${one.pascal}Dto): Promise<${one.pascal}> {
    return this.#db.${one.camel}.update({ where: { id }, data });
  }

  delete(id: number): Promise<${one.pascal}> {
    return this.#db.${one.camel}.delete({ where: { id } });
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

Deno.test("${many.pascal}Service.page() gives rows in the order of their keys", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides });
  const service = app.get(${many.pascal}Service);
  const first = await service.create({ name: "Ada" });
  const second = await service.create({ name: "Bob" });
  assert.equal(await service.count(), 2);
  assert.deepEqual(await service.page({ skip: 0, take: 20 }), [first, second]);
  assert.deepEqual(await service.page({ skip: 1, take: 1 }), [second]);
});

Deno.test("${many.pascal}Service.one() refuses a key that there is not", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides });
  const missing = app.get(${many.pascal}Service).one(1);
  await assert.rejects(missing, { message: "No such ${one.prose}" });
});
`,
  };
}

/** Gives the controller of a resource, with its test. */
export function resourceController(template: ResourceTemplate): CodeAndTest {
  const { one, many, database, testDatabase, idParam, pageQuery } = template;
  return {
    code: `import { inject, route } from "@fw/fw";
import * as v from "valibot";
import { IdParam } from "${idParam}";
import { PageQuery } from "${pageQuery}";
import { ${one.pascal}Dto, Create${one.pascal}Dto, Update${one.pascal}Dto } from "./${one.snake}_dto.ts";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

export class ${many.pascal}Controller {
  static readonly prefix = "${many.kebab}";
  static readonly version = "v1";
  readonly #service = inject(${many.pascal}Service);

  create = route.post("/", {
    body: Create${one.pascal}Dto,
    response: ${one.pascal}Dto,
    status: 201,
    openapi: {
      summary: "Create ${one.withArticle()}",
      responses: {
        201: { description: "It is created", headers: { Location: "Its path" } },
      },
    },
  }, async ({ body }, c) => {
    const row = await this.#service.create(body);
    c.header("Location", \`\${c.req.path.replace(/\\/$/, "")}/\${row.id}\`);
    return row;
  });

  list = route.get("/", {
    query: PageQuery,
    response: v.array(${one.pascal}Dto),
    openapi: {
      summary: "List ${many.prose}",
      responses: {
        200: {
          description: "A page of ${many.prose}",
          headers: { "X-Total-Count": "How many there are in all" },
        },
      },
    },
  }, async ({ query }, c) => {
    c.header("X-Total-Count", String(await this.#service.count()));
    return this.#service.page(query);
  });

  one = route.get("/:id", {
    params: IdParam,
    response: ${one.pascal}Dto,
    openapi: { summary: "Find ${one.withArticle()}" },
  }, ({ params }) => this.#service.one(params.id));

  update = route.patch("/:id", {
    params: IdParam,
    body: Update${one.pascal}Dto,
    response: ${one.pascal}Dto,
    openapi: { summary: "Change ${one.withArticle()}" },
  }, ({ params, body }) => this.#service.update(params.id, body));

  delete = route.delete("/:id", {
    params: IdParam,
    response: ${one.pascal}Dto,
    openapi: { summary: "Delete ${one.withArticle()}" },
  }, ({ params }) => this.#service.delete(params.id));
}
`,
    test: `import { provide } from "@fw/fw";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { Db } from "${database}";
import { openTestDatabase } from "${testDatabase}";
import { ${many.pascal}Module } from "./${many.snake}_module.ts";

const overrides = [provide(Db, openTestDatabase)];
const path = "/v1/${many.kebab}";

Deno.test("${many.prose} are created, listed, found, changed and deleted", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides });
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

Deno.test("${many.prose} are refused without a name, with 422", async () => {
  await using app = await createTestApplication(${many.pascal}Module, { overrides });
  const response = await app.request(path, { json: {} });
  assert.equal(response.status, 422);
  const [issue] = (await response.json()).errors;
  assert.deepEqual([issue.in, issue.field], ["body", "name"]);
});
`,
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
