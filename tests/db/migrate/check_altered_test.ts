/** The tables of every model pass `checkTables()`, and fail it after any alteration. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { sql } from "kysely";
import { DbError, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import type { FieldKind } from "../../../src/db/model/field_kind.ts";
import type { AnyField } from "../../../src/db/model/model.ts";
import { IS_ALL } from "../../support/test.ts";
import { type Brand, testOnEach } from "../support/database.ts";

const RUNS = IS_ALL ? 40 : 10;
const DEFAULTS = {
  integer: 5,
  bigint: 2n ** 62n,
  text: "it's",
  enum: "b",
  date: "2024-02-29",
  time: "12:30:00",
  boolean: true,
  real: -0.5,
  decimal: "1.50",
  json: { a: [1] },
  timestamp: new Date(0),
  uuid: "0188c0de-0000-7000-8000-00000000000a",
  blob: new Uint8Array([1]),
  array: ["a"],
} as const;
const KEYLESS: readonly FieldKind[] = ["json", "blob", "array"];

/** A field, and what deletes do to it if it refers to an owner. */
const FIELD = fc.record({
  kind: fc.constantFrom(...Object.keys(DEFAULTS) as FieldKind[]),
  size: fc.record({ precision: fc.integer({ min: 6, max: 18 }), scale: fc.constantFrom(2, 3, 4) }),
  isNullable: fc.boolean(),
  isUnique: fc.boolean(),
  hasDefault: fc.boolean(),
  onDelete: fc.constantFrom(undefined, undefined, "restrict", "cascade", "set null"),
});
const SHAPE = fc.record({
  key: fc.constantFrom("integer", "bigint", "text", "uuid", "timestamp", "decimal"),
  fields: fc.array(FIELD, { minLength: 1, maxLength: 6 }),
});
type Declared = typeof FIELD extends fc.Arbitrary<infer T> ? T : never;
type Shape = typeof SHAPE extends fc.Arbitrary<infer T> ? T : never;

/** The models of a shape: owners, and parts that may refer to them. */
function modelsOf({ key, fields }: Shape) {
  const keyField = key === "decimal" ? field.decimal({ precision: 9, scale: 2 }) : field[key]();
  const owner = model("owners", { id: keyField.primaryKey() });
  const declare = ({ kind, size, isNullable, isUnique, hasDefault, onDelete }: Declared) => {
    if (onDelete !== undefined) {
      const own = keyField.references(owner, { onDelete });
      return isNullable || onDelete === "set null" ? own.nullable() : own;
    }
    let declared: AnyField = kind === "decimal"
      ? field.decimal(size)
      : kind === "enum"
      ? field.enum(["a", "b"])
      : kind === "array"
      ? field.text().array()
      : field[kind]();
    if (isNullable) declared = declared.nullable();
    if (isUnique && !KEYLESS.includes(kind)) declared = declared.unique();
    return hasDefault ? declared.default(DEFAULTS[kind]) : declared;
  };
  const fieldsByName = Object.fromEntries(fields.map((it, index) => [`f${index}`, declare(it)]));
  const part = model("parts", { id: field.integer().primaryKey(), ...fieldsByName });
  return { owner, part };
}

/** Lists the alterations of a column: what follows `alter table parts`. */
function alterationsOf(
  { name, field: { kind, flags, traits } }: { readonly name: string; readonly field: AnyField },
  brand: Brand,
): readonly string[] {
  const isReference = traits.reference !== undefined;
  const isFree = !isReference && !flags.has("unique");
  const other = flags.has("nullable") ? "not null" : "null";
  const same = flags.has("nullable") ? "null" : "not null";
  const everywhere = ["rename to others", `rename column ${name} to other`];
  switch (brand) {
    case "sqlite":
      return [...everywhere, ...isFree ? [`drop column ${name}`] : []];
    case "postgres":
      return [
        ...everywhere,
        `drop column ${name}`,
        "add column other int not null",
        "drop constraint parts_pkey",
        "alter column id drop identity",
        `alter column ${name} ${flags.has("nullable") ? "set" : "drop"} not null`,
        `drop column ${name}, add column ${name} int generated always as (1) stored ${same}`,
        ...isReference ? [`drop constraint parts_${name}_fkey`] : [],
        ...flags.has("unique") ? [`drop constraint parts_${name}_key`] : [],
        ...isReference || kind === "enum" ? [] : [ // whose CHECK compares texts
          `alter column ${name} drop default, alter column ${name} type interval using null`,
        ],
      ];
    case "mysql":
      return [
        ...everywhere,
        "add column other int not null",
        "modify id bigint not null, drop primary key",
        "modify id bigint not null",
        ...isReference ? [`drop foreign key parts_${name}_fkey`] : [],
        ...flags.has("unique") ? [`drop index ${name}`] : [],
        ...isReference ? [] : [
          `drop column ${name}`,
          `modify ${name} year ${same}`,
          `modify ${name} year ${other}`,
        ],
      ];
  }
}

testOnEach("DbService.checkTables() accepts created tables, until altered", async (database) => {
  const { brand, url } = database;
  await fc.assert(
    fc.asyncProperty(SHAPE, fc.nat(), fc.nat(), async (shape, column, alteration) => {
      const models = modelsOf(shape);
      await using db = new DbService(await DbOptions.fromUrl(url).open(), models);
      for (const name of ["parts", "others", "owners"]) {
        await sql.raw(`drop table if exists ${name}`).execute(db.kysely);
      }
      await db.createTables();
      await db.checkTables();
      const name = `f${column % shape.fields.length}`;
      const fields: Readonly<Record<string, AnyField>> = models.part["~model"].fields;
      const alterations = alterationsOf({ name, field: fields[name]! }, brand);
      const altering = alterations[alteration % alterations.length]!;
      await sql.raw(`alter table parts ${altering}`).execute(db.kysely);
      await assert.rejects(db.checkTables(), (error) => {
        assert.ok(error instanceof DbError, String(error));
        assert.match(error.message, /^Cannot use tables: they differ .*\n {2}parts[.:]/, altering);
        return true;
      });
    }),
    { numRuns: RUNS },
  );
});
