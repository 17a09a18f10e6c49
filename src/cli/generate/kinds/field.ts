/**
 * Fields of models that a project has.
 *
 * @module
 */
import { posix } from "node:path";
import { addFieldToModel, addUniqueToModel } from "../../edit/model_source.ts";
import { CliError } from "../../terminal/cli_error.ts";
import { editFile } from "../edit_project.ts";
import { fieldCode } from "../fields/field_code.ts";
import { readModelFields } from "../fields/model_fields.ts";
import type { Kind } from "../kind.ts";
import { type Generation, specifierOf } from "../target.ts";
import { readModel } from "./model.ts";
import { tenantOf, updateResource } from "./resource_update.ts";

/** Fields of a model, whose migration is written by difference. */
export const FIELD: Kind = {
  name: "field",
  aliases: [],
  about: "fields of a model, with their migration",
  example: "product slug:text:unique",
  hasFields: true,
  hasTenant: true,
  generate: generateFields,
  migration: ({ target, fields }) => {
    const names = fields.map((text) => /^\w*/.exec(text)![0]);
    return `add_${names.join("_and_")}_to_${readModel(target).many.snake}`;
  },
};

async function generateFields(generation: Generation): Promise<void> {
  const { plan, target, fields } = generation;
  const { one, file } = readModel(target);
  if (fields.length === 0) {
    throw new CliError(
      `Cannot generate a field: name one, as in fw generate field ${one.kebab} age:integer?`,
    );
  }
  const before = plan.read(file);
  if (before === undefined) {
    throw new CliError(`Cannot generate a field: there is no ${file}`);
  }
  const tenant = await tenantOf(generation);
  const { specs, unique, referred } = await readModelFields({ ...generation, tenant }, one);
  // readModelFields puts the tenant first, which the model has
  const added = specs.slice(specs.length - fields.length);
  for (const spec of added) {
    const target = referred.get(spec.name);
    const imported = target && target.name !== one.pascal
      ? { name: target.name, from: specifierOf(posix.dirname(file), target.file) }
      : undefined;
    await editModel(generation, {
      name: spec.name,
      change: (source) =>
        addFieldToModel(source, {
          name: spec.name,
          code: fieldCode(spec, { model: one.pascal }),
          imported,
        }),
    });
  }
  for (const key of unique) {
    await editModel(generation, {
      name: `the unique key ${key.join(", ")}`,
      change: (source) => addUniqueToModel(source, key),
    });
  }
  await updateResource({ ...generation, tenant }, {
    before,
    names: added.map(({ name }) => name),
  });
}

/** Plans to change a model. */
async function editModel(
  generation: Generation,
  { name, change }: {
    readonly name: string;
    readonly change: (source: string) => Promise<string | undefined>;
  },
): Promise<void> {
  const { file } = readModel(generation.target);
  if (await editFile(generation, { path: file, change })) return;
  throw new CliError(
    `Cannot generate ${name}: ${file} declares it already, or its code is not as expected`,
  );
}
