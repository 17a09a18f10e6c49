/** Things: models with a field of almost each kind, and keys of one column or of several. */
import assert from "node:assert/strict";
import { DbService, field, model, type Row } from "../../../src/db/mod.ts";

/** The moods of things; not in the order of text. */
export const MOODS = ["sad", "Happy", "so so", "á", "_%"] as const;

/** The columns of things besides those of their keys. */
const COLUMNS_BESIDES_KEYS = {
  // Each has the name of another's column.
  name: field.text().nullable().map("rank"),
  rank: field.integer().nullable().map("code"),
  flag: field.boolean().default(true),
  mood: field.enum(MOODS).nullable(),
  day: field.date().nullable(),
  hour: field.time().nullable(),
  big: field.bigint().nullable(),
  price: field.decimal({ precision: 18, scale: 2 }).nullable(),
  tags: field.text().array().nullable(),
  data: field.json().nullable(),
  note: field.text().nullable().defaultSql("'new'"),
  made: field.createdAt(),
  touched: field.updatedAt().map("touched_at"),
  gone: field.deletedAt().map("touched"),
  version: field.version(),
};
const TABLE = { table: "objects", schema: "world" };

/** The model of things. */
export const Thing = model("things", {
  id: field.integer().primaryKey(),
  code: field.text().unique().map("name"),
  ...COLUMNS_BESIDES_KEYS,
}, TABLE);

/** The same columns, with keys of several of them. */
const KeyedThing = model("things", {
  id: field.integer().default(1),
  code: field.text().map("name"),
  ...COLUMNS_BESIDES_KEYS,
}, {
  ...TABLE,
  primaryKey: ["code", "id"],
  unique: [["name", "rank"]],
  index: ["day", ["flag", "mood", "big"]],
});

/** How rows are known. */
export interface Keys {
  /** The columns of the primary key. */
  readonly primary: readonly Column[];
  /** All keys, by the names that conditions have for them. */
  readonly all: Readonly<Record<string, readonly Column[]>>;
  /** Whether the database generates the missing `id` of a row; otherwise it is 1. */
  readonly areGenerated: boolean;
}

/** The keys of things. */
export const KEYS: Keys = {
  primary: ["id"],
  all: { id: ["id"], code: ["code"] },
  areGenerated: true,
};

/** The keys of keyed things. */
export const COMPOSITE_KEYS: Keys = {
  primary: ["code", "id"],
  all: { code_id: ["code", "id"], name_rank: ["name", "rank"] },
  areGenerated: false,
};

/** A database of things. */
export class Things extends DbService.with({ thing: Thing }) {}

/** A database of things that are known by keys of several columns. */
export class KeyedThings extends DbService.with({ thing: KeyedThing }) {}

/** The hooks that copy the committed rows. */
const MIRRORING = {
  created: (rows: readonly Thing[], db: Committing) =>
    mirror(db, (copy) => rows.forEach((row) => add(copy, row))),
  updated: (rows: readonly { readonly before: Thing; readonly after: Thing }[], db: Committing) =>
    mirror(db, (copy) =>
      rows.forEach(({ before, after }) => {
        remove(copy, before);
        add(copy, after);
      })),
  deleted: (rows: readonly Thing[], db: Committing) =>
    mirror(db, (copy) => rows.forEach((row) => remove(copy, row))),
};

/** A database of things whose hooks copy the committed rows. */
export class MirroredThings
  extends DbService.with({ thing: Thing }, {}, { on: { thing: MIRRORING } }) {
  /** The rows by their keys. */
  readonly copy: Copy = new Map();
}

/** The same of keyed things. */
export class MirroredKeyedThings
  extends DbService.with({ thing: KeyedThing }, {}, { on: { thing: MIRRORING } }) {
  /** The rows by their keys. */
  readonly copy: Copy = new Map();
}

type Committing = Pick<DbService, "afterCommit">;
type Copy = Map<string, Thing>;

async function mirror(db: Committing, change: (copy: Copy) => void): Promise<void> {
  assert.ok(db instanceof MirroredThings || db instanceof MirroredKeyedThings);
  await db.afterCommit(() => change(db.copy));
}

/** Adds a row, unless it is marked. */
function add(copy: Copy, row: Thing): void {
  if (row.gone !== null) return;
  assert.ok(!copy.has(keyIn(row)), "it is created once");
  copy.set(keyIn(row), row);
}

/** Removes a row, which may be marked by now, or before. */
function remove(copy: Copy, row: Thing): void {
  const { gone, touched, version } = row;
  const live = copy.get(keyIn(row));
  if (gone === null || live) {
    assert.deepEqual(live && gone !== null ? { ...live, gone, touched, version } : live, row);
  }
  copy.delete(keyIn(row));
}

/** No two rows have the same `id` and `code`, with any keys. */
function keyIn({ id, code }: Thing): string {
  return `${id} ${code}`;
}

/** A row. */
export type Thing = Row<typeof Thing>;

/** The name of a column. */
export type Column = keyof Thing;

/** The columns, in the order of the model. */
export const COLUMNS: readonly Column[] = [
  "id",
  "code",
  "name",
  "rank",
  "flag",
  "mood",
  "day",
  "hour",
  "big",
  "price",
  "tags",
  "data",
  "note",
  "made",
  "touched",
  "gone",
  "version",
];

/** The name of a column that has an order. */
export type OrderedColumn = Exclude<Column, "data" | "tags">;

/** The columns that have an order. */
export const ORDERED_COLUMNS: readonly OrderedColumn[] = COLUMNS.filter((name) =>
  name !== "data" && name !== "tags"
);
