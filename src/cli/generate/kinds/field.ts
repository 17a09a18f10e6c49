/**
 * Fields of models that a project has.
 *
 * @module
 */
import { posix } from "node:path";
import { addFieldToModel } from "../../edit/model_source.ts";
import { CliError } from "../../terminal/cli_error.ts";
import { editFile } from "../edit_project.ts";
import { fieldCode } from "../fields/field_code.ts";
import { readModelFields } from "../fields/model_fields.ts";
import type { Kind } from "../kind.ts";
import { type Generation, specifierOf } from "../target.ts";
import { readModel } from "./model.ts";

/** Fields of a model, whose migration is written by difference. */
export const FIELD: Kind = {
  name: "field",
  aliases: [],
  about: "fields of a model, with their migration",
  example: "product slug:text:unique",
  hasFields: true,
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
  if (plan.read(file) === undefined) {
    throw new CliError(`Cannot generate a field: there is no ${file}`);
  }
  const { specs, referred } = await readModelFields(generation, one);
  for (const spec of specs) {
    const target = referred.get(spec.name);
    const imported = target && target.name !== one.pascal
      ? { name: target.name, from: specifierOf(posix.dirname(file), target.file) }
      : undefined;
    const isAdded = await editFile(generation, {
      path: file,
      change: (source) =>
        addFieldToModel(source, {
          name: spec.name,
          code: fieldCode(spec, { model: one.pascal }),
          imported,
        }),
    });
    if (isAdded) continue;
    throw new CliError(
      `Cannot generate ${spec.name}: ${file} has such a field, or its code is not as expected`,
    );
  }
}
