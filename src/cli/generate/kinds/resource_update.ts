/**
 * Changes of a resource whose model has new fields: what `fw generate resource` would have written.
 *
 * @module
 */
import { posix } from "node:path";
import { updateGeneratedClass } from "../../edit/generated_class.ts";
import { readModelSource } from "../../edit/model_source.ts";
import { format } from "../../system/programs.ts";
import { CliError } from "../../terminal/cli_error.ts";
import { editFile } from "../edit_project.ts";
import { declaredModel, type ModelFields } from "../fields/model_fields.ts";
import type { Generation } from "../target.ts";
import { modelTest, readModel } from "./model.ts";
import { resourceTemplate, TENANT_FILE } from "./resource.ts";
import { CONFLICT, resourceController, type ResourceTemplate } from "./resource_code.ts";
import { referenceCheck, resourceService, tenantReferences } from "./resource_service.ts";
import { controllerTest, serviceTest } from "./resource_tests.ts";

/** The field of a tenant, in the code of a generated service. */
const SCOPE = /#of\((\w+): string\)/;
/** The claim of a tenant, in the code of its file. */
const CLAIM = /\bclaims(?:\[["']|\.)(\w+)/;
/** The fields that a generated service checks. */
const CHECKED = /#checkReferences\([^)]*?\bPick<([^>]*)>/;

/**
 * Returns the column of the tenant of a model: the one that is given, else that of its service or
 * of other resources, if the model has it.
 *
 * @throws {CliError} if the model does not have the column that is given
 */
export async function tenantOf({ plan, target, tenant }: Generation): Promise<string | undefined> {
  const { file } = readModel(target);
  const { service } = filesOf(target);
  const known = tenant ?? SCOPE.exec(plan.read(service) ?? "")?.[1] ??
    CLAIM.exec(plan.read(TENANT_FILE) ?? "")?.[1];
  const model = await readModelSource(plan.read(file) ?? "");
  if (known !== undefined && model?.fields.has(known)) return known;
  if (tenant === undefined) return undefined;
  throw new CliError(`Cannot use ${file}: it declares no field ${tenant}`);
}

/** New fields of a model. */
export interface NewFields {
  /** The code of the model before. */
  readonly before: string;
  /** Their names. */
  readonly names: readonly string[];
}

/**
 * Plans what the code of a model needs for its new fields: the checks that a row of a tenant refers
 * to rows of that tenant, the conflicts in the documentation, and the rows of tests. Adds notes of
 * what is not safe.
 */
export async function updateResource(
  generation: Generation,
  { before, names }: NewFields,
): Promise<void> {
  const { plan, target } = generation;
  const model = readModel(target);
  const templateOf = async (source: string) =>
    resourceTemplate(target, await declaredModel(generation, { source, model }));
  try {
    const template = await templateOf(plan.read(model.file) ?? "");
    await updateService(generation, { template, names });
    await updateController(generation, template);
    await updateTests(generation, { before: await templateOf(before), after: template });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { service, controller } = filesOf(target);
    const hasCode = [service, controller].some((file) => plan.read(file) !== undefined);
    if (hasCode) plan.note(`Add ${names.join(" and ")} to ${service} by hand: ${error.message}`);
  }
}

/** Plans the checks of references to rows of the tenant. */
async function updateService(
  generation: Generation,
  { template, names }: { readonly template: ResourceTemplate; readonly names: readonly string[] },
): Promise<void> {
  const { plan, target } = generation;
  const { fields, accessor } = template;
  const references = tenantReferences(fields);
  if (references.length === 0) return;
  const { service } = filesOf(target);
  const [, list = ""] = CHECKED.exec(plan.read(service) ?? "") ?? [];
  const checked = Array.from(list.matchAll(/\w+/g), ([name]) => name);
  const known = new Map([...fields.referred].filter(([name]) => checked.includes(name)));
  const isUpdated = await updateClass(generation, {
    path: service,
    before: resourceService(withFields(template, { referred: known })),
    after: resourceService(template),
    isComplete: checksAllWrites,
  });
  if (isUpdated) return;
  const place = plan.read(service) === undefined
    ? `the code that writes ${template.many.prose}`
    : `${service}, which is not as generated`;
  for (const reference of references.filter(({ name }) => names.includes(name))) {
    const code = referenceCheck(reference, { tenant: fields.tenant, accessor });
    plan.note(
      `Add to ${place}, before it creates or updates a row: ${code.replaceAll(/\s+/g, " ").trim()}`,
    );
  }
}

/** Plans to document the conflicts of unique fields and references. */
async function updateController(
  generation: Generation,
  template: ResourceTemplate,
): Promise<void> {
  const { plan, target } = generation;
  const { controller } = filesOf(target);
  const source = plan.read(controller);
  if (source === undefined) return;
  const specs = template.fields.specs.filter(({ name }) => name === template.fields.tenant);
  const before = resourceController(withFields(template, { specs, unique: [] }));
  const after = resourceController(template);
  const isUpdated = await updateClass(generation, { path: controller, before, after });
  if (isUpdated || source.includes(CONFLICT) || !after.includes(CONFLICT)) return;
  plan.note(
    `Add to the responses of the routes that write rows, in ${controller}: 409: "${CONFLICT}"`,
  );
}

/** Plans the rows that the tests need, in those that are as generated. */
async function updateTests(
  { plan, project, target }: Generation,
  { before, after }: { readonly before: ResourceTemplate; readonly after: ResourceTemplate },
): Promise<void> {
  const model = readModel(target);
  const { service, controller } = filesOf(target);
  const tests: Readonly<Record<string, (template: ResourceTemplate) => string>> = {
    [model.file]: (template) => modelTest(model, template),
    [controller]: controllerTest,
    [service]: serviceTest,
  };
  for (const [file, test] of Object.entries(tests)) {
    const path = file.replace(/\.ts$/, "_test.ts");
    const [old = "", next = ""] = await Promise.all(
      [test(before), test(after)].map((text) => format({ path, text }, project.root)),
    );
    if (old !== next && plan.read(path) === old) plan.update(path, next);
  }
}

/** Plans to change a generated class; returns whether it is as generated. */
async function updateClass(
  generation: Generation,
  { path, before, after, isComplete = () => true }: {
    readonly path: string;
    readonly before: string;
    readonly after: string;
    readonly isComplete?: (code: string) => boolean;
  },
): Promise<boolean> {
  const formatted = (text: string) => format({ path, text }, generation.project.root);
  const change = { before: await formatted(before), after: await formatted(after) };
  return await editFile(generation, {
    path,
    change: async (source) => {
      const code = await updateGeneratedClass(source, change);
      return code !== undefined && isComplete(code) ? code : undefined;
    },
  });
}

function withFields(template: ResourceTemplate, fields: Partial<ModelFields>): ResourceTemplate {
  return { ...template, fields: { ...template.fields, ...fields } };
}

function filesOf(target: Generation["target"]): Record<"service" | "controller", string> {
  const { many, file } = readModel(target);
  const start = posix.join(posix.dirname(file), many.snake);
  return { service: `${start}_service.ts`, controller: `${start}_controller.ts` };
}

/** Checks whether both `create` and `update` of a service check references. */
function checksAllWrites(code: string): boolean {
  return [...code.matchAll(/await this\.#checkReferences\(/g)].length >= 2;
}
