/**
 * Resources: all code from a table to its routes.
 *
 * @module
 */
import { posix } from "node:path";
import { DATABASE_FILE } from "../../project/project.ts";
import { listInModule } from "../edit_project.ts";
import { type Kind, planCode } from "../kind.ts";
import { checkModelName, TEST_DATABASE_FILE } from "../project_database.ts";
import { type Generation, specifierOf } from "../target.ts";
import { ensureModel, readModel } from "./model.ts";
import { resourceController, resourceService, type ResourceTemplate } from "./resource_code.ts";

/** A whole CRUD. */
export const RESOURCE: Kind = {
  name: "resource",
  aliases: ["res"],
  about: "a whole CRUD: module, controller, service, DTOs, model, migration and tests",
  example: "product",
  generate: generateResource,
};

const ID_PARAM_FILE = "src/id_param.ts";
const PAGE_QUERY_FILE = "src/page_query.ts";

async function generateResource(generation: Generation): Promise<void> {
  const { plan, target } = generation;
  const model = readModel(target);
  const { one, many, accessor, file } = model;
  const folder = posix.dirname(file);
  await checkModelName(plan, model);
  const template: ResourceTemplate = {
    one,
    many,
    accessor,
    prefix: [...target.folders, many.kebab].join("/"),
    database: specifierOf(folder, DATABASE_FILE),
    testDatabase: specifierOf(folder, TEST_DATABASE_FILE),
    idParam: specifierOf(folder, ID_PARAM_FILE),
    pageQuery: specifierOf(folder, PAGE_QUERY_FILE),
  };
  const moduleFile = posix.join(folder, `${many.snake}_module.ts`);
  plan.create(moduleFile, resourceModule(template));
  planCode(plan, posix.join(folder, `${many.snake}_controller.ts`), resourceController(template));
  planCode(plan, posix.join(folder, `${many.snake}_service.ts`), resourceService(template));
  plan.create(posix.join(folder, `${one.snake}_dto.ts`), resourceDto(template));
  plan.createMissing({ [ID_PARAM_FILE]: ID_PARAM, [PAGE_QUERY_FILE]: PAGE_QUERY });
  await ensureModel(generation);
  const listing = { name: `${many.pascal}Module`, file: moduleFile, folder: target.base };
  await listInModule(generation, { list: "imports", ...listing });
}

/** Returns the module of a resource. */
function resourceModule({ many, database }: ResourceTemplate): string {
  return `import { module } from "@fw/fw";
import { DatabaseModule } from "${database}";
import { ${many.pascal}Controller } from "./${many.snake}_controller.ts";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

export const ${many.pascal}Module = module({
  name: "${many.pascal}Module",
  imports: [DatabaseModule],
  providers: [${many.pascal}Service],
  controllers: [${many.pascal}Controller],
});
`;
}

/** The key of a row in a path; shared by all resources. */
const ID_PARAM = `import { dto } from "@fw/fw";
import * as v from "valibot";

/** The id of a row, in a path. */
export const IdParam = dto(
  "IdParam",
  v.object({
    id: v.pipe(
      v.string(),
      v.digits("Expected a whole number"),
      v.toNumber(),
      v.safeInteger(),
    ),
  }),
);
`;

/** The page in a query; shared by all resources. */
const PAGE_QUERY = `import { dto } from "@fw/fw";
import * as v from "valibot";

const WholeNumber = v.pipe(
  v.string(),
  v.digits("Expected a whole number"),
  v.toNumber(),
  v.safeInteger(),
);

/** A page of a list: the number of rows to skip, and to take (1 to 100). */
export const PageQuery = dto(
  "PageQuery",
  v.object({
    skip: v.optional(v.pipe(WholeNumber, v.minValue(0)), "0"),
    take: v.optional(
      v.pipe(WholeNumber, v.minValue(1), v.maxValue(100)),
      "20",
    ),
  }),
);
export type PageQuery = v.InferOutput<typeof PageQuery>;
`;

/** Returns the DTOs of a resource: of its requests and responses. */
function resourceDto({ one }: ResourceTemplate): string {
  return `import { dto } from "@fw/fw";
import * as v from "valibot";

const Name = v.pipe(v.string(), v.nonEmpty(), v.maxCodePoints(100));

/** The body of a request that creates ${one.withArticle()}. */
export const Create${one.pascal}Dto = dto("Create${one.pascal}Dto", v.object({ name: Name }));
export type Create${one.pascal}Dto = v.InferOutput<typeof Create${one.pascal}Dto>;

/** The fields of ${one.withArticle()} to change. */
export const Update${one.pascal}Dto = dto(
  "Update${one.pascal}Dto",
  v.object({ name: v.optional(Name) }),
);
export type Update${one.pascal}Dto = v.InferOutput<typeof Update${one.pascal}Dto>;

/** ${
    one.withArticle().replace(/^a/, "A")
  } in a response: fields that are not declared are never sent. */
export const ${one.pascal}Row = dto(
  "${one.pascal}Row",
  v.object({ id: v.pipe(v.number(), v.integer()), name: v.string() }),
);
`;
}
