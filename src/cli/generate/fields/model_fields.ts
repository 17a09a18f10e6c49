/**
 * The fields of a model to generate, with what they refer to.
 *
 * @module
 */
import { posix } from "node:path";
import { specifierOfName } from "../../edit/imports.ts";
import { accessorOf, readModelSource } from "../../edit/model_source.ts";
import { parseModule } from "../../edit/syntax.ts";
import { EntityName } from "../../project/entity_name.ts";
import { DATABASE_FILE } from "../../project/project.ts";
import { CliError } from "../../terminal/cli_error.ts";
import { type Generation, specifierOf } from "../target.ts";
import { fieldCode } from "./field_code.ts";
import {
  checkNames,
  FIELD_KINDS,
  type FieldSpec,
  plainField,
  readField,
  readFields,
} from "./field_spec.ts";
import type { ReferredKey } from "./table_sql.ts";

/** The field of a model that is generated without fields. */
export const DEFAULT_FIELD = "name:text:1..100";

/** The model that a field refers to, and its column unless that is the key. */
const REFERENCE = /\.references\(\s*(["']self["']|\w+)(?:,\s*\{[^}]*\bcolumn:\s*["'](\w+)["'])?/;

/** A model that others refer to. */
export interface ReferredModel extends ReferredKey {
  /** The exported name. */
  readonly name: string;
  /** The file. */
  readonly file: string;
  /** The name of its repository; empty for that of the model that is generated. */
  readonly accessor: string;
  /** Whether its rows have the tenant too. */
  readonly hasTenant: boolean;
}

/** The fields of a model. */
export interface ModelFields {
  /** The fields, that of the tenant first. */
  readonly specs: readonly FieldSpec[];
  /** The fields that are unique together: with a tenant, each unique one is so for its rows. */
  readonly unique: readonly (readonly string[])[];
  /** The field that has the tenant of a row. */
  readonly tenant?: string | undefined;
  /** The models that fields refer to, by the names of the fields. */
  readonly referred: ReadonlyMap<string, ReferredModel>;
}

/** A model that a project has, or will have. */
export interface PlannedModel {
  /** Its fields. */
  readonly fields: ModelFields;
  /** The field that is its key. */
  readonly key: string;
}

/**
 * Reads the fields of a model to generate.
 *
 * @throws {CliError} if one is invalid, has the name of another, or refers to an unknown model
 */
export async function readModelFields(
  { plan, fields: texts, tenant }: Generation,
  own: EntityName,
): Promise<ModelFields> {
  const given = readFields(texts);
  if (tenant !== undefined && readField(tenant).name !== tenant) {
    throw new CliError(`Cannot use the tenant ${tenant}: it is not the name of a column`);
  }
  const specs = tenant === undefined
    ? given
    : [readField(tenant), ...given.filter(({ name }) => name !== tenant)];
  checkNames(specs);
  const referred = new Map<string, ReferredModel>();
  const read: FieldSpec[] = [];
  for (const spec of specs) {
    const target = spec.reference && await findModel({ plan, tenant }, spec.reference, own);
    if (target) referred.set(spec.name, target);
    if (target?.name === own.pascal && !spec.isNullable) {
      throw new CliError(`Cannot generate ${spec.name}: no row is the first; write ${spec.name}?`);
    }
    read.push(target ? { ...spec, kind: target.kind } : spec);
  }
  if (tenant === undefined) return { specs: read, unique: [], tenant, referred };
  const unique = read.filter(({ isUnique }) => isUnique).map(({ name }) => [tenant, name]);
  return { specs: read.map((spec) => ({ ...spec, isUnique: false })), unique, tenant, referred };
}

/**
 * Reads the fields of a model that the project has, as far as its code shows them.
 *
 * @throws {CliError} if the file is not understood, or the model has no key of one column
 */
export async function declaredModel(
  { plan, tenant }: Generation,
  { source, model: { one, file } }: {
    readonly source: string;
    readonly model: { readonly one: EntityName; readonly file: string };
  },
): Promise<PlannedModel> {
  const declared = await readModelSource(source);
  if (!declared?.key) {
    throw new CliError(`Cannot use ${file}: it declares no model with a key of one column`);
  }
  if (tenant !== undefined && !declared.fields.has(tenant)) {
    throw new CliError(`Cannot use ${file}: it declares no field ${tenant}`);
  }
  const referred = new Map<string, ReferredModel>();
  const specs: FieldSpec[] = [];
  for (const [name, code] of declared.fields) {
    const [, kind] = /^field\s*\.\s*(\w+)\(/.exec(code) ?? [];
    const [, target, column] = REFERENCE.exec(code) ?? [];
    const isSelf = target?.slice(1, -1) === "self"; // in quotes
    const known = FIELD_KINDS.find((it) => it === kind);
    if (known === undefined || name === declared.key.name) continue;
    specs.push({
      ...plainField(name, known),
      // tests need no such row
      isNullable: isSelf || /\.(?:nullable|default|defaultSql)\(/.test(code),
      isUnique: code.includes(".unique()"),
    });
    if (target) {
      const reference = isSelf ? one : EntityName.parse(target);
      const found = await findModel({ plan, tenant }, reference, one);
      referred.set(name, { ...found, column: column ?? found.column });
    }
  }
  const { unique, key } = declared;
  return { fields: { specs, unique, tenant, referred }, key: key.name };
}

/** Returns the columns with an index of their own: the tenant, unless a key begins with it. */
export function indexesOf({ tenant, unique }: ModelFields): readonly string[] {
  return tenant !== undefined && unique.length === 0 ? [tenant] : [];
}

/** Returns the code of a model: its imports, its declaration and the type of its rows. */
export function modelCode(
  { one, many, file }: {
    readonly one: EntityName;
    readonly many: EntityName;
    readonly file: string;
  },
  fields: ModelFields,
): string {
  const { specs, unique, referred } = fields;
  const others = new Map([...referred.values()].map((target) => [target.name, target]));
  others.delete(one.pascal);
  const imports = Array.from(
    others.values(),
    ({ name, file: other }) =>
      `import { ${name} } from "${specifierOf(posix.dirname(file), other)}";\n`,
  );
  const lines = specs.map((spec) => `  ${spec.name}: ${fieldCode(spec, { model: one.pascal })},\n`);
  const list = (names: readonly string[]) => `[${names.map((name) => `"${name}"`).join(", ")}]`;
  const index = indexesOf(fields);
  const options = [
    unique.length > 0 && `unique: [${unique.map(list).join(", ")}]`,
    index.length > 0 && `index: ${list(index)}`,
  ].filter(Boolean);
  return `import { field, model, type Row } from "@fw/fw/db";
${imports.join("")}
export const ${one.pascal} = model("${many.snake}", {
  id: field.integer().primaryKey(),
${lines.join("")}}${options.length > 0 ? `, { ${options.join(", ")} }` : ""});
export type ${one.pascal} = Row<typeof ${one.pascal}>;
`;
}

/** Finds a model of the database, with its key. */
async function findModel(
  { plan, tenant }: Pick<Generation, "plan" | "tenant">,
  reference: EntityName,
  own: EntityName,
): Promise<ReferredModel & { readonly kind: FieldSpec["kind"] }> {
  const name = reference.pascal;
  const database = plan.read(DATABASE_FILE) ?? "";
  const program = await parseModule(database);
  const specifier = program && specifierOfName(program, name);
  const accessor = await accessorOf(database, name);
  const unknown = (reason: string) => new CliError(`Cannot refer to ${reference.kebab}: ${reason}`);
  if (specifier === undefined || accessor === undefined) {
    if (name === own.pascal) { // it is generated now
      const table = own.plural().snake;
      const hasTenant = tenant !== undefined;
      return { name, file: "", accessor: "", table, column: "id", kind: "integer", hasTenant };
    }
    throw unknown(`${DATABASE_FILE} lists no model ${name}; fw generate model ${reference.kebab}`);
  }
  const file = posix.join(posix.dirname(DATABASE_FILE), specifier);
  const model = await readModelSource(plan.read(file) ?? "");
  const kind = FIELD_KINDS.find((it) => it === model?.key?.kind);
  if (!model?.key || !kind) throw unknown(`${file} declares no model with one key`);
  const hasTenant = tenant !== undefined && model.fields.has(tenant);
  return { name, file, accessor, table: model.table, column: model.key.name, kind, hasTenant };
}
