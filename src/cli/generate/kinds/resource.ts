/**
 * Resources: all code from a table to its routes.
 *
 * @module
 */
import { posix } from "node:path";
import { APP_FILE, DATABASE_FILE } from "../../project/project.ts";
import { CliError } from "../../terminal/cli_error.ts";
import { listInModule } from "../edit_project.ts";
import { type Kind, planCode } from "../kind.ts";
import { checkModelName, TEST_DATABASE_FILE } from "../project_database.ts";
import { type Generation, specifierOf, type Target } from "../target.ts";
import { ensureModel, readModel } from "./model.ts";
import { DEFAULT_FIELD, type PlannedModel } from "../fields/model_fields.ts";
import { parentRows } from "../fields/parent_rows.ts";
import { resourceController, resourceDto, type ResourceTemplate } from "./resource_code.ts";
import { resourceService } from "./resource_service.ts";
import { controllerTest, serviceTest } from "./resource_tests.ts";

/** A whole CRUD. */
export const RESOURCE: Kind = {
  name: "resource",
  aliases: ["res"],
  about: "a whole CRUD: module, controller, service, DTOs, model, migration and tests",
  example: "product name:text:1..100 price:decimal:12,2",
  hasFields: true,
  defaultField: DEFAULT_FIELD,
  hasTenant: true,
  generate: generateResource,
};

/** What `resource` has beside a model, for a model that the project has. */
export const CRUD: Kind = {
  name: "crud",
  aliases: [],
  about: "the module, controller, service, DTOs and tests of a model that the project has",
  example: "product",
  hasTenant: true,
  async generate(generation) {
    const { one, file } = readModel(generation.target);
    if (generation.plan.read(file) === undefined) {
      throw new CliError(
        `Cannot generate crud: there is no ${file}; fw generate resource ${one.kebab} creates both`,
      );
    }
    await generateResource(generation);
  },
};

/** The file of the tenant of a caller. */
export const TENANT_FILE = "src/caller_tenant.ts";

async function generateResource(generation: Generation): Promise<void> {
  const { plan, target } = generation;
  const model = readModel(target);
  const { one, many, file } = model;
  const folder = posix.dirname(file);
  await checkModelName(plan, model);
  const planned = await ensureModel(generation);
  const { fields } = planned;
  const template = resourceTemplate(target, planned);
  const moduleFile = posix.join(folder, `${many.snake}_module.ts`);
  plan.create(moduleFile, resourceModule(template));
  planCode(plan, posix.join(folder, `${many.snake}_controller.ts`), {
    code: resourceController(template),
    test: controllerTest(template),
  });
  planCode(plan, posix.join(folder, `${many.snake}_service.ts`), {
    code: resourceService(template),
    test: serviceTest(template),
  });
  plan.create(posix.join(folder, `${one.snake}_dto.ts`), resourceDto(template));
  const { tenant } = fields;
  if (tenant !== undefined) {
    plan.createMissing({ [TENANT_FILE]: callerTenant(tenant) });
    const verifiesTokens = /\.use(?:Authn|OAuth2)\(/.test(plan.read(APP_FILE) ?? "");
    if (!verifiesTokens) {
      plan.note(`Callers need a token with the claim ${tenant}: see useAuthn and useOAuth2`);
    }
  }
  const listing = { name: `${many.pascal}Module`, file: moduleFile, folder: target.base };
  await listInModule(generation, { list: "imports", ...listing });
}

/** Returns the names of the resource of a model, and the specifiers that it imports. */
export function resourceTemplate(target: Target, { fields, key }: PlannedModel): ResourceTemplate {
  const { one, many, accessor, file } = readModel(target);
  const folder = posix.dirname(file);
  return {
    one,
    many,
    accessor,
    key,
    fields,
    parents: parentRows(fields, { folder }),
    prefix: [...target.folders, many.kebab].join("/"),
    database: specifierOf(folder, DATABASE_FILE),
    testDatabase: specifierOf(folder, TEST_DATABASE_FILE),
    callerTenant: specifierOf(folder, TENANT_FILE),
  };
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

/** The tenant of a caller; shared by all resources. */
function callerTenant(tenant: string): string {
  return `import { type Context, ForbiddenException } from "@fw/fw";
import { Principal } from "@fw/fw/authn";

/**
 * Returns the tenant of the caller, which input cannot set: the claim \`${tenant}\` of its token.
 * Callers without a token are refused with 401.
 */
export async function callerTenant(c: Context): Promise<string> {
  const { claims } = await Principal(c);
  const tenant = claims["${tenant}"];
  if (typeof tenant === "string" && tenant !== "") return tenant;
  throw new ForbiddenException("The token names no tenant");
}
`;
}
