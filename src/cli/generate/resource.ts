/**
 * Generating a resource: everything between a table and its routes.
 *
 * @module
 */
import { posix } from "node:path";
import {
  ID_PARAM,
  PAGE_QUERY,
  resourceController,
  resourceDto,
  resourceModule,
  resourceService,
} from "../templates/kinds/resource.ts";
import { DATABASE_FILE } from "../project.ts";
import type { Generation } from "./generation.ts";
import { generateModel, modelName, TEST_DATABASE_FILE } from "./model.ts";
import { listInModule } from "./parent_module.ts";
import { folderOf, specifierOf } from "./target.ts";

/** What all resources of a project share. */
const SHARED_FILES = { "src/id_param.ts": ID_PARAM, "src/page_query.ts": PAGE_QUERY };

/** Plans a whole CRUD, and imports it in the module above it. */
export async function generateResource(generation: Generation): Promise<void> {
  const { plan, project, target } = generation;
  const one = modelName(target.name);
  const many = one.plural();
  const folder = folderOf(target, many);
  const at = (file: string) => posix.join(folder, file);
  const to = (file: string) => specifierOf(at("any.ts"), file);
  const template = {
    one,
    many,
    database: to(DATABASE_FILE),
    testDatabase: to(TEST_DATABASE_FILE),
    idParam: to("src/id_param.ts"),
    pageQuery: to("src/page_query.ts"),
  };
  const controller = resourceController(template);
  const service = resourceService(template);
  const moduleFile = at(`${many.snake}_module.ts`);
  plan.create(moduleFile, resourceModule(template));
  plan.create(at(`${many.snake}_controller.ts`), controller.code);
  plan.create(at(`${many.snake}_controller_test.ts`), controller.test);
  plan.create(at(`${many.snake}_service.ts`), service.code);
  plan.create(at(`${many.snake}_service_test.ts`), service.test);
  plan.create(at(`${one.snake}_dto.ts`), resourceDto(template));
  for (const [file, text] of Object.entries(SHARED_FILES)) {
    if (plan.read(file) === undefined) plan.create(file, text);
  }
  await generateModel(generation);
  const name = `${many.pascal}Module`;
  await listInModule(plan, project, {
    list: "imports",
    name,
    file: moduleFile,
    folder: target.base,
  });
}
