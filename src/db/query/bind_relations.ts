/**
 * Binds relations to tables and columns.
 *
 * @module
 */
import type { Relations } from "../model/include.ts";
import type { AnyModel } from "../model/model.ts";
import type { AnyRelation } from "../model/relation.ts";
import type { Table, TableRelation } from "./table.ts";

type NamedModels = Readonly<Record<string, AnyModel>>;
type NamedRelations = Readonly<Record<string, Relations | undefined>>;

/**
 * Checks relations against models.
 *
 * @throws {TypeError} if one has the name of a column, or is of another model
 */
export function checkRelations(models: NamedModels, relations: NamedRelations): void {
  const tables = Object.values(models).map((model) => model["~model"]);
  for (const [accessor, named] of Object.entries(relations)) {
    const model = models[accessor]?.["~model"];
    if (!model) throw new TypeError(`Cannot relate ${accessor}: there is no such model`);
    for (const [name, relation] of Object.entries(named ?? {})) {
      const refuse = (reason: string) =>
        new TypeError(`Cannot relate ${accessor}.${name}: ${reason}`);
      if (name in model.fields || name === "__proto__") throw refuse("a column has this name");
      if (relation.source["~model"] !== model) {
        throw refuse(`it begins at ${relation.source["~model"].table}`);
      }
      for (const other of [relation.target["~model"], relation.foreignKey["~model"]]) {
        if (!tables.includes(other)) throw refuse(`${other.table} has no model here`);
      }
    }
  }
}

/** Adds the relations to their tables. */
export function bindRelations(
  tables: ReadonlyMap<string, Table>,
  relations: NamedRelations,
): void {
  const byName = new Map(Array.from(tables.values(), (table) => [table.name, table]));
  const tableOf = (model: AnyModel): Table => byName.get(model["~model"].table)!;
  for (const [accessor, named] of Object.entries(relations)) {
    for (const [name, relation] of Object.entries(named ?? {})) {
      tables.get(accessor)?.relations.set(name, bind(relation, tableOf));
    }
  }
}

function bind(relation: AnyRelation, tableOf: (model: AnyModel) => Table): TableRelation {
  const { kind, foreignKey, through, isOwn } = relation;
  const source = tableOf(relation.source);
  const table = tableOf(relation.target);
  if (isOwn) {
    return { kind, own: source.column(foreignKey.name, "relate"), table, their: table.primaryKey };
  }
  const own = source.primaryKey;
  if (!through) return { kind, own, table, their: table.column(foreignKey.name, "relate") };
  const between = tableOf({ "~model": foreignKey["~model"] });
  return {
    kind,
    own,
    table,
    their: table.primaryKey,
    through: { table: between, own: foreignKey.name, their: through.name },
  };
}
