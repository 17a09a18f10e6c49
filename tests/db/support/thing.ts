/** Things, and the operations of a repository on them, as data. */
import assert from "node:assert/strict";
import {
  type CreateInput,
  DbService,
  field,
  type FindManyOptions,
  model,
  type Row,
  type UniqueWhere,
  type Where,
} from "../../../src/db/mod.ts";

/** The moods of things; not in the order of text. */
export const MOODS = ["sad", "Happy", "so so", "á", "_%"] as const;

const Thing = model("things", {
  id: field.integer().primaryKey(),
  code: field.text().unique().map("name"),
  // Each has the name of another's column.
  name: field.text().nullable().map("rank"),
  rank: field.integer().nullable().map("code"),
  flag: field.boolean().default(true),
  mood: field.enum(MOODS).nullable(),
  day: field.date().nullable(),
  hour: field.time().nullable(),
  note: field.text().nullable().defaultSql("'new'"),
  made: field.createdAt(),
  touched: field.updatedAt().map("touched_at"),
  gone: field.deletedAt().map("touched"),
  version: field.version(),
}, { table: "objects", schema: "world" });

/** A database of things. */
export class Things extends DbService.with({ thing: Thing }) {}

/** A database of things whose hooks copy the committed rows. */
export class MirroredThings extends DbService.with({ thing: Thing }, {}, {
  on: {
    thing: {
      created: (rows, db) => mirror(db, (copy) => rows.forEach((row) => add(copy, row))),
      updated: (rows, db) =>
        mirror(db, (copy) =>
          rows.forEach(({ before, after }) => {
            remove(copy, before);
            add(copy, after);
          })),
      deleted: (rows, db) => mirror(db, (copy) => rows.forEach((row) => remove(copy, row))),
    },
  },
}) {
  /** The rows by key. */
  readonly copy: Map<number, Thing> = new Map();
}

async function mirror(
  db: Pick<DbService, "afterCommit">,
  change: (copy: Map<number, Thing>) => void,
): Promise<void> {
  assert.ok(db instanceof MirroredThings);
  await db.afterCommit(() => change(db.copy));
}

/** Adds a row, unless it is marked. */
function add(copy: Map<number, Thing>, row: Thing): void {
  if (row.gone !== null) return;
  assert.ok(!copy.has(row.id), "it is created once");
  copy.set(row.id, row);
}

/** Removes a row, which may be marked by now, or before. */
function remove(copy: Map<number, Thing>, row: Thing): void {
  const { gone, touched, version } = row;
  const live = copy.get(row.id);
  if (gone === null || live) {
    assert.deepEqual(live && gone !== null ? { ...live, gone, touched, version } : live, row);
  }
  copy.delete(row.id);
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
  "note",
  "made",
  "touched",
  "gone",
  "version",
];

/** A condition on rows. */
export type Condition = Where<typeof Thing>;

/** A condition on one row. */
export type Unique = UniqueWhere<typeof Thing>;

/** A condition on the row of a write, and its version. */
export type Target = Unique & { readonly version?: number };

/** The data of a new row. */
export type Creation = CreateInput<typeof Thing>;

/** The data of an update. */
export type Change = Partial<Omit<Thing, "id" | "gone" | "version">>;

/** The options of a find; `select` may lack columns, which types ignore here. */
export type Find = FindManyOptions<typeof Thing> & { select?: Record<Column, true> };

/** The values of the rows of a scope; empty without a scope. */
export type Scope = { readonly [C in "name" | "rank" | "flag"]?: NonNullable<Thing[C]> } & {
  /** Whether marked rows are seen. */
  readonly withDeleted?: boolean;
};

/** A condition on groups: `{ rank: { _sum: { gt: 1 } } }`. */
export type GroupCondition = object;

/** The options of an aggregate, or of groups; types ignore here which columns there are. */
export interface Grouping {
  readonly where?: Condition;
  readonly by?: readonly Column[];
  readonly having?: GroupCondition;
  readonly orderBy?: readonly object[];
  readonly take?: number;
  readonly skip?: number;
  readonly _count?: true | object;
  readonly _sum?: object;
  readonly _avg?: object;
  readonly _min?: object;
  readonly _max?: object;
}

/** The operations of a repository. */
export type Operation =
  | { do: "create"; data: Creation }
  | { do: "createMany"; data: Creation[]; skipDuplicates?: boolean }
  | { do: "createManyAndReturn"; data: Creation[] }
  | { do: "findUnique"; where: Unique }
  | { do: "delete" | "purge"; where: Target }
  | { do: "findMany" | "findFirst"; options: Find }
  | { do: "stream"; options: Find; batchSize: number }
  | { do: "update"; where: Target; data: Change }
  | { do: "updateMany" | "updateManyAndReturn"; where: Condition; data: Change }
  | { do: "upsert"; where: Unique; create: Creation; update: Change }
  | { do: "upsertMany"; by: "id" | "code"; create: Creation[]; update: (keyof Change)[] }
  | { do: "deleteMany" | "purgeMany" | "exists"; where: Condition }
  | { do: "count"; where: Condition; distinct: Column[] }
  | { do: "aggregate" | "groupBy"; options: Grouping };

/** The operations of a database. */
export type Command =
  | { do: "operation"; scope: Scope; operation: Operation }
  | { do: "transaction"; commands: readonly Command[]; commits: boolean };

/** Runs an operation on the rows of a scope. */
export function runOperation(
  db: Things,
  scope: Scope,
  operation: Operation,
): Promise<unknown> {
  const thing = scopedThings(db, scope);
  // A condition that holds for every row is refused, unless the rows decide that.
  const naming = (where: Condition) => ({ AND: [where, { id: { not: 5000 } }] });
  switch (operation.do) {
    case "create":
      return thing.create({ data: operation.data });
    case "createMany": {
      const { data, skipDuplicates } = operation;
      return thing.createMany({ data, skipDuplicates });
    }
    case "createManyAndReturn":
      return thing.createManyAndReturn({ data: operation.data });
    case "findUnique":
      return thing.findUnique({ where: operation.where });
    case "findMany":
      return thing.findMany(operation.options);
    case "findFirst": {
      const { take: _, ...options } = operation.options;
      return thing.findFirst(options);
    }
    case "stream": {
      const { distinct: _, ...options } = operation.options;
      return all(thing.stream({ ...options, batchSize: operation.batchSize }));
    }
    case "update":
      return thing.update({ where: operation.where, data: operation.data });
    case "updateMany":
      return thing.updateMany({ where: naming(operation.where), data: operation.data });
    case "updateManyAndReturn":
      return thing.updateManyAndReturn({ where: naming(operation.where), data: operation.data });
    case "upsert": {
      const { where, create, update } = operation;
      return thing.upsert({ where, create, update });
    }
    case "upsertMany": {
      const { by, create, update } = operation;
      return thing.upsertMany({ by, create, update });
    }
    case "delete":
      return thing.delete({ where: operation.where });
    case "purge":
      return thing.purge({ where: operation.where });
    case "deleteMany":
      return thing.deleteMany({ where: naming(operation.where) });
    case "purgeMany":
      return thing.purgeMany({ where: naming(operation.where) });
    case "exists":
      return thing.exists({ where: operation.where });
    case "count":
      return thing.count({ where: operation.where, distinct: operation.distinct });
    case "aggregate":
      return thing.aggregate(operation.options as { _count: true });
    case "groupBy":
      return thing.groupBy(operation.options as { by: ["name"] });
  }
}

async function all(rows: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

function scopedThings({ thing }: Things, { withDeleted, ...scope }: Scope): Things["thing"] {
  // By type, data has no columns of the scope; neither has that of the operations.
  const seen = withDeleted ? thing.withDeleted() as unknown as Things["thing"] : thing;
  if (Object.keys(scope).length === 0) return seen;
  return seen.scoped(scope as Required<Omit<Scope, "withDeleted">>) as Things["thing"];
}
