/**
 * Checks the relations of models, and binds them to their tables.
 *
 * @module
 */
import { referredColumn } from "../model/reference.ts";
import { type AnyModel, isMemberName } from "../model/model.ts";
import type { AnyColumn, AnyRelation, Relations } from "../model/relation.ts";
import type { Table, TableRelation } from "./table.ts";

type NamedModels = Readonly<Record<string, AnyModel>>;
type NamedRelations = Readonly<Record<string, Relations | undefined>>;

/**
 * Checks relations against models.
 *
 * @throws {TypeError} if one has the name of a column or a reserved one, or is of another model
 */
export function checkRelations(models: NamedModels, relations: NamedRelations): void {
  const tables = Object.values(models).map((model) => model["~model"]);
  for (const [accessor, named] of Object.entries(relations)) {
    const model = models[accessor]?.["~model"];
    if (!model) throw new TypeError(`Cannot relate ${accessor}: there is no such model`);
    for (const [name, relation] of Object.entries(named ?? {})) {
      const refuse = (reason: string) =>
        new TypeError(`Cannot relate ${accessor}.${name}: ${reason}`);
      if (!isMemberName(name) || name === "_count") throw refuse("the name is reserved");
      if (name in model.fields) throw refuse("a column has this name");
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
  const referred = (by: AnyColumn, model: AnyModel) => {
    const { reference } = by["~model"].fields[by.name]!.traits;
    return tableOf(model).column(referredColumn(model["~model"], reference!), "relate");
  };
  const own = isOwn
    ? source.column(foreignKey.name, "relate")
    : referred(foreignKey, relation.source);
  const ends = { kind, isOwn, own, source: source.source, table };
  if (isOwn) return { ...ends, their: referred(foreignKey, relation.target) };
  if (!through) return { ...ends, their: table.column(foreignKey.name, "relate") };
  const between = tableOf({ "~model": foreignKey["~model"] });
  return {
    ...ends,
    their: referred(through, relation.target),
    through: {
      table: between,
      own: between.column(foreignKey.name, "relate"),
      their: between.column(through.name, "relate"),
    },
  };
}
