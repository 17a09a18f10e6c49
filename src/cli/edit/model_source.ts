/**
 * The model that a source file declares.
 *
 * @module
 */
import type { ArrayExpression, CallExpression, ObjectExpression, Program } from "@babel/types";
import { appendTo } from "./source_file.ts";
import { callsOf, insertAll, nameOf, parseModule, propertyOf, spanOf } from "./syntax.ts";

/** A model, as far as its source shows it. */
export interface DeclaredModel {
  /** The name of its table. */
  readonly table: string;
  /** The code of its fields, by name: `field.text().unique()`. */
  readonly fields: ReadonlyMap<string, string>;
  /** The fields that are unique together. */
  readonly unique: readonly (readonly string[])[];
  /** The field that is its key, unless it has several, or none. */
  readonly key?: { readonly name: string; readonly kind: string };
}

/**
 * Reads the only `model("table", { … })` of a file; returns `undefined` if the file is not
 * understood.
 */
export async function readModelSource(source: string): Promise<DeclaredModel | undefined> {
  const program = await parseModule(source);
  const call = program && onlyModel(program);
  const [table, fields, options] = call?.arguments ?? [];
  if (table?.type !== "StringLiteral" || fields?.type !== "ObjectExpression") return undefined;
  const codes = new Map(
    fields.properties.flatMap((property) => {
      if (property.type !== "ObjectProperty") return [];
      const { start, end } = spanOf(property.value);
      return [[nameOf(property.key) ?? "", source.slice(start, end)] as const];
    }),
  );
  const [name, code] = [...codes].find(([, code]) => code.includes(".primaryKey()")) ?? [];
  const [, kind] = /^field\s*\.\s*(\w+)\(/.exec(code ?? "") ?? [];
  const { start, end } = options ? spanOf(options) : { start: 0, end: 0 };
  const other = /\btable:\s*["']([^"']+)["']/.exec(source.slice(start, end))?.[1];
  return {
    table: other ?? table.value,
    fields: codes,
    unique: keysIn(options?.type === "ObjectExpression" ? options : undefined),
    ...name !== undefined && kind !== undefined && { key: { name, kind } },
  };
}

/** Returns the name that `DbService.with({ … })` of a file lists a model under. */
export async function accessorOf(source: string, model: string): Promise<string | undefined> {
  const program = await parseModule(source);
  const [models] = (program && callsOf(program, "DbService.with")[0]?.arguments) ?? [];
  if (models?.type !== "ObjectExpression") return undefined;
  const listed = models.properties.filter((property) => property.type === "ObjectProperty")
    .find(({ value }) => nameOf(value) === model);
  return listed && nameOf(listed.key);
}

/**
 * Adds a field to the only `model("table", { … })` of a file. Returns the new text, or `undefined`
 * if the file is not understood, or has a field of the name in any case.
 */
export async function addFieldToModel(
  source: string,
  { name, code, imported }: {
    readonly name: string;
    readonly code: string;
    /** What the code refers to. */
    readonly imported?: { readonly name: string; readonly from: string } | undefined;
  },
): Promise<string | undefined> {
  const model = await readModelSource(source);
  const isTaken = (other: string) => other.toLowerCase() === name.toLowerCase();
  if (!model || [...model.fields.keys()].some(isTaken)) return undefined;
  return await appendTo(source, { find: fieldsOf, item: `${name}: ${code}`, imported });
}

/**
 * Makes fields unique together in the only `model("table", { … })` of a file. Returns the new text,
 * or `undefined` if the file is not understood.
 */
export async function addUniqueToModel(
  source: string,
  names: readonly string[],
): Promise<string | undefined> {
  const program = await parseModule(source);
  const call = program && onlyModel(program);
  const [, fields, options] = call?.arguments ?? [];
  if (fields === undefined) return undefined;
  const key = JSON.stringify(names).replaceAll(",", ", ");
  if (options === undefined) {
    const text = insertAll(source, [{ at: spanOf(fields).end, text: `, { unique: [${key}] }` }]);
    return await parseModule(text) && text;
  }
  if (options.type !== "ObjectExpression") return undefined;
  if (propertyOf(options, "unique")) return await appendTo(source, { find: uniqueOf, item: key });
  return await appendTo(source, { find: optionsOf, item: `unique: [${key}]` });
}

function onlyModel(program: Program): CallExpression | undefined {
  const [call, ...others] = callsOf(program, "model");
  return others.length === 0 ? call : undefined;
}

function fieldsOf(program: Program): ObjectExpression | undefined {
  const fields = onlyModel(program)?.arguments[1];
  return fields?.type === "ObjectExpression" ? fields : undefined;
}

function optionsOf(program: Program): ObjectExpression | undefined {
  const options = onlyModel(program)?.arguments[2];
  return options?.type === "ObjectExpression" ? options : undefined;
}

function uniqueOf(program: Program): ArrayExpression | undefined {
  const options = optionsOf(program);
  const unique = options && propertyOf(options, "unique");
  return unique?.type === "ArrayExpression" ? unique : undefined;
}

function keysIn(options: ObjectExpression | undefined): readonly (readonly string[])[] {
  const unique = options && propertyOf(options, "unique");
  if (unique?.type !== "ArrayExpression") return [];
  return unique.elements.filter((key) => key?.type === "ArrayExpression")
    .map(({ elements }) => elements.flatMap((name) => name ? nameOf(name) ?? [] : []));
}
