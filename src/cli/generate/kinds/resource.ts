/**
 * Resources: everything between a table and its routes.
 *
 * @module
 */
import { posix } from "node:path";
import { DATABASE_FILE } from "../../project/project.ts";
import { planCode } from "../code_kind.ts";
import type { Generation } from "../generation.ts";
import type { Kind } from "../kind.ts";
import { listInModule } from "../parent_module.ts";
import { checkModelName, TEST_DATABASE_FILE } from "../project_database.ts";
import { specifierOf } from "../target.ts";
import { ensureModel, readModel } from "./model.ts";
import { resourceController } from "./resource_controller.ts";
import { ID_PARAM, PAGE_QUERY, resourceDto } from "./resource_schemas.ts";
import { resourceService } from "./resource_service.ts";
import type { ResourceTemplate } from "./resource_template.ts";

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

/** Gives the module of a resource. */
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
