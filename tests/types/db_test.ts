import type { Insertable, Selectable } from "kysely";
import { inject } from "../../mod.ts";
import {
  type AnyModel,
  type CreateInput,
  DbModule,
  DbOptions,
  DbService,
  field,
  type FindManyOptions,
  model,
  type Repository,
  type Row,
  type TableOf,
  type UniqueWhere,
  type UpdateInput,
  type Where,
} from "../../src/db/mod.ts";
import { test } from "../support/test.ts";
import { same } from "./same.ts";

/** Compiles only if every value fits. */
function fits<T>(_: readonly T[]): void {}

/** Compiles its body, which never runs. */
function compiles(_: (db: never) => unknown): void {}

const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  email: field.text().unique(),
  nick: field.text().unique().nullable(),
  score: field.real().nullable(),
  active: field.boolean().default(true),
});
const Tag = model("tags", { name: field.text().primaryKey(), uses: field.integer().default(0) });
class Db extends DbService.with({ user: User, tag: Tag }) {}

type UserRow = {
  id: number;
  tenant_id: string;
  email: string;
  nick: string | null;
  score: number | null;
  active: boolean;
};

test("the types of a model are inferred from its fields", () => {
  same<Row<typeof User>, UserRow>();
  same<Row<typeof Tag>, { name: string; uses: number }>();

  fits<CreateInput<typeof User>>([
    { tenant_id: "a", email: "e" },
    { id: 1, tenant_id: "a", email: "e", nick: null, score: 0.5, active: false },
    { id: undefined, tenant_id: "a", email: "e", nick: undefined, active: undefined },
    // @ts-expect-error: the e-mail is missing
    { tenant_id: "a" },
    // @ts-expect-error: the e-mail is not nullable
    { tenant_id: "a", email: null },
    // @ts-expect-error: no such column
    { tenant_id: "a", email: "e", nope: 1 },
    // @ts-expect-error: the id is a number
    { tenant_id: "a", email: "e", id: "1" },
  ]);
  fits<CreateInput<typeof Tag>>([
    { name: "a" },
    // @ts-expect-error: only an integer key is generated
    {},
  ]);
  fits<UpdateInput<typeof User>>([
    {},
    { email: "e", nick: null, active: undefined },
    // @ts-expect-error: the primary key is not updated
    { id: 1 },
    // @ts-expect-error: the e-mail is not nullable
    { email: null },
    // @ts-expect-error: no such column
    { nope: 1 },
  ]);
});

const Entry = model("entries", {
  id: field.integer().primaryKey(),
  created_at: field.createdAt(),
  updated_at: field.updatedAt(),
  label: field.text().defaultSql("'new'"),
  state: field.enum(["draft", "on hold"]).default("draft"),
  mood: field.enum(["sad"]).nullable(),
  day: field.date().nullable(),
  time: field.time().nullable(),
});

test("data may omit what repositories and databases set", () => {
  const at = new Date();
  same<Row<typeof Entry>, {
    id: number;
    created_at: Date;
    updated_at: Date;
    label: string;
    state: "draft" | "on hold";
    mood: "sad" | null;
    day: string | null;
    time: string | null;
  }>();
  fits<CreateInput<typeof Entry>>([
    {},
    { created_at: at, updated_at: at, label: "x" },
    // @ts-expect-error: a Date
    { created_at: 0 },
  ]);
  fits<UpdateInput<typeof Entry>>([{}, { updated_at: at }]);
});

test("an enum has the type of its values", () => {
  fits<CreateInput<typeof Entry>>([
    { state: "on hold", mood: null },
    // @ts-expect-error: not in the list
    { state: "hold" },
  ]);
  fits<UpdateInput<typeof Entry>>([
    { state: "on hold", mood: "sad" },
    // @ts-expect-error: not nullable
    { state: null },
  ]);
  fits<Where<typeof Entry>>([
    { state: "draft", mood: null },
    { state: { in: ["draft", "on hold"], not: "draft" }, mood: { equals: null } },
    // @ts-expect-error: not in the list
    { state: "hold" },
    // @ts-expect-error: not in the list
    { state: { in: ["draft", "hold"] } },
    { day: { gte: "2026-01-01", lt: "2027-01-01" }, time: { lte: "12:00:00" } },
    // @ts-expect-error: not a Date
    { day: new Date() },
    // @ts-expect-error: not text
    { day: { startsWith: "2026" } },
    // @ts-expect-error: an enum has no order operators
    { state: { lt: "draft" } },
    // @ts-expect-error: nor those of text
    { state: { contains: "draft" } },
  ]);
  fits<FindManyOptions<typeof Entry>>([{ orderBy: { state: "asc" }, distinct: ["mood"] }]);
  class Entries extends DbService.with({ entry: Entry }) {}
  compiles(async () => {
    const { entry } = inject(Entries);
    const found = await entry.groupBy({ by: ["state"], _max: { mood: true } });
    same<typeof found, { state: "draft" | "on hold"; _max: { mood: "sad" | null } }[]>();
    entry.scoped({ state: "draft" });
    // @ts-expect-error: not in the list
    entry.scoped({ state: "hold" });
    // @ts-expect-error: not in the list
    Entry.state.equals("hold");
    // @ts-expect-error: not in the list
    field.enum(["a", "b"]).default("c");
  });
});

test("conditions and orders fit the kinds of their columns", () => {
  fits<Where<typeof User>>([
    {},
    { id: 1, nick: null, active: true },
    { id: { in: [1], notIn: [], gt: 0, lte: 9 }, nick: { equals: null, contains: "a" } },
    { OR: [{ id: 1 }, User.email.equals("e")], NOT: { AND: [] } },
    { email: { gte: "a", startsWith: "a", isNull: false } },
    { nick: { in: ["a"], not: "b", mode: "insensitive" } },
    // @ts-expect-error: the mode is unknown
    { email: { equals: "a", mode: "ascii" } },
    // @ts-expect-error: a number has no case
    { id: { equals: 1, mode: "insensitive" } },
    // @ts-expect-error: no such column
    { nope: 1 },
    // @ts-expect-error: no such operator
    { id: { like: 1 } },
    // @ts-expect-error: text only
    { id: { contains: "1" } },
    // @ts-expect-error: booleans have no order
    { active: { gt: false } },
    // @ts-expect-error: another type
    { id: "1" },
    // @ts-expect-error: a list of another type
    { id: { in: ["1"] } },
    // @ts-expect-error: null is in no list
    { nick: { in: [null] } },
    // @ts-expect-error: null has no order
    { nick: { lt: null } },
    // @ts-expect-error: the e-mail is never null
    { email: null },
    // @ts-expect-error: a list
    { AND: { id: 1 } },
    // @ts-expect-error: no such column inside
    { OR: [{ nope: 1 }] },
  ]);
  fits<FindManyOptions<typeof User>>([
    {},
    { where: User.nick.equals(null), orderBy: [User.id.order("asc"), { email: "desc" }], take: 1 },
    // @ts-expect-error: no such direction
    { orderBy: { id: "up" } },
    { orderBy: [{ email: { sort: "asc", mode: "insensitive" } }, { nick: { sort: "desc" } }] },
    // @ts-expect-error: a number has no case
    { orderBy: { id: { sort: "asc", mode: "insensitive" } } },
    // @ts-expect-error: the direction is missing
    { orderBy: { email: { mode: "insensitive" } } },
    // @ts-expect-error: no such column
    { orderBy: { nope: "asc" } },
    // @ts-expect-error: no such option
    { limit: 1 },
    // @ts-expect-error: a number
    { take: "1" },
  ]);
  // @ts-expect-error: another type
  User.id.equals("1");
  // @ts-expect-error: never null
  User.email.equals(null);
  // @ts-expect-error: no such direction
  User.id.order("up");
});

test("only unique columns name a row", () => {
  fits<UniqueWhere<typeof User>>([
    { id: 1 },
    { email: "e" },
    { nick: "n" },
    { id: 1, email: "e" },
    { id: { equals: 1 } },
    User.id.equals(1),
    User.nick.equals("n"),
    // @ts-expect-error: nothing
    {},
    // @ts-expect-error: not unique
    { tenant_id: "a" },
    // @ts-expect-error: not unique
    { id: 1, tenant_id: "a" },
    // @ts-expect-error: not one row
    { id: { gt: 1 } },
    // @ts-expect-error: many rows may be null
    { nick: null },
    // @ts-expect-error: many rows may be null
    User.nick.equals(null),
    // @ts-expect-error: no condition
    { OR: [{ id: 1 }] },
    // @ts-expect-error: not given
    { id: undefined },
  ]);
});

test("repositories return rows and take input without casts", () => {
  compiles(async () => {
    const db = inject(Db);
    same<
      typeof db.user extends { create(options: never): Promise<infer R> } ? R : never,
      UserRow
    >();
    const found = await db.user.findUnique({ where: { email: "e" } });
    same<typeof found, UserRow | null>();
    const rows = await db.user.findMany({ where: { score: { gt: 1 } }, take: 20 });
    same<typeof rows, UserRow[]>();
    const body: { nick?: string | undefined; active?: boolean | undefined } = {};
    await db.user.update({ where: { id: 1 }, data: body });
    // @ts-expect-error: no such model
    db.post;
    // @ts-expect-error: an accessor is not replaced
    db.user = inject(Db).user;
    // @ts-expect-error: another model's column
    db.tag.findUnique({ where: { email: "e" } });
    // @ts-expect-error: which row?
    db.user.delete({});
  });
});

test("reads that lock their rows have the types of other reads", () => {
  compiles(async () => {
    const db = inject(Db);
    const options: FindManyOptions<typeof User> = { take: 1, lock: "update", skipLocked: true };
    same<Awaited<ReturnType<typeof db.user.findMany>>, UserRow[]>();
    const [id] = await db.user.findMany({ ...options, select: { id: true } });
    same<typeof id, { id: number } | undefined>();
    same<UserRow | null, Awaited<ReturnType<typeof db.user.findFirst>>>();
    await db.user.findFirst({ lock: "share", noWait: true });
    await db.user.findUnique({ where: { id: 1 }, lock: "update" });
    // @ts-expect-error: no such lock
    await db.user.findMany({ lock: "exclusive" });
    // @ts-expect-error: a stream locks nothing
    db.user.stream({ lock: "update" });
    // @ts-expect-error: a count locks nothing
    await db.user.count({ lock: "update" });
  });
});

test("many rows are created, updated and upserted without casts", () => {
  compiles(async () => {
    const db = inject(Db);
    const create = [{ tenant_id: "a", email: "e" }];
    const created = await db.user.createManyAndReturn({ data: create });
    same<typeof created, UserRow[]>();
    const updated = await db.user.updateManyAndReturn({ where: { id: 1 }, data: { nick: null } });
    same<typeof updated, UserRow[]>();
    same<number, Awaited<ReturnType<typeof db.user.upsertMany>>>();
    await db.user.upsertMany({ by: "email", create, update: ["nick", "tenant_id"] });
    const scoped = db.user.scoped({ tenant_id: "a" });
    await scoped.upsertMany({ by: "nick", create: [{ email: "e" }], update: ["email"] });
    // @ts-expect-error: the scope sets it
    await scoped.upsertMany({ by: "email", create: [{ email: "e" }], update: ["tenant_id"] });
    // @ts-expect-error: not unique
    await db.user.upsertMany({ by: "tenant_id", create, update: ["nick"] });
    // @ts-expect-error: the primary key is not updated
    await db.user.upsertMany({ by: "email", create, update: ["id"] });
    // @ts-expect-error: rows to update may be all
    await db.user.updateManyAndReturn({ data: {} });
  });
});

test("a stream yields what a find finds", () => {
  compiles(async () => {
    const db = inject(Db);
    for await (const row of db.user.stream({ where: { id: 1 }, batchSize: 10 })) {
      same<typeof row, UserRow>();
    }
    for await (const row of db.user.stream({ select: { nick: true } })) {
      same<typeof row, { nick: string | null }>();
    }
    // @ts-expect-error: a number
    db.user.stream({ batchSize: "10" });
  });
});

test("aggregates have the types of their columns", () => {
  compiles(async () => {
    const db = inject(Db);
    same<
      Awaited<ReturnType<typeof sums>>,
      {
        _count: { _all: number; nick: number };
        _sum: { score: number | null };
        _avg: { id: number | null };
        _max: { email: string | null; active: boolean | null };
      }
    >();
    const sums = () =>
      db.user.aggregate({
        where: { active: true },
        _count: { _all: true, nick: true },
        _sum: { score: true },
        _avg: { id: true },
        _max: { email: true, active: true },
      });
    const counted = await db.user.aggregate({ _count: true });
    same<typeof counted, { _count: number }>();
    const groups = await db.user.groupBy({
      by: ["tenant_id", "nick"],
      having: { score: { _avg: { gt: 0.5 } }, OR: [{ id: { _count: 1 } }] },
      orderBy: [{ _sum: { score: "desc" } }, { nick: "asc" }],
      take: 5,
      _min: { nick: true },
    });
    same<
      typeof groups,
      { tenant_id: string; nick: string | null; _min: { nick: string | null } }[]
    >();
    // @ts-expect-error: text has no sum
    await db.user.aggregate({ _sum: { email: true } });
    // @ts-expect-error: true
    await db.user.aggregate({ _sum: { id: false } });
    // @ts-expect-error: no such column
    await db.user.aggregate({ _count: { id: true, nope: true } });
    // @ts-expect-error: which groups?
    await db.user.groupBy({ _count: true });
    // @ts-expect-error: it is not in by
    await db.user.groupBy({ by: ["nick"], orderBy: { email: "asc" } });
    // @ts-expect-error: text has no average
    await db.user.groupBy({ by: ["nick"], having: { email: { _avg: 1 } } });
    // @ts-expect-error: an aggregate
    await db.user.groupBy({ by: ["nick"], having: { id: 1 } });
  });
});

test("the data of an upsert may omit the value that names the row", () => {
  compiles(async () => {
    const db = inject(Db);
    const update = {};
    await db.user.upsert({ where: { email: "e" }, create: { tenant_id: "a" }, update });
    await db.user.upsert({ where: { email: "e" }, create: { tenant_id: "a", email: "e" }, update });
    await db.user.upsert({ where: User.email.equals("e"), create: { tenant_id: "a" }, update });
    await db.user.scoped({ tenant_id: "a" }).upsert({ where: { email: "e" }, create: {}, update });
    await db.tag.upsert({ where: { name: "a" }, create: {}, update: { uses: { increment: 1 } } });
    // @ts-expect-error: the e-mail is missing
    await db.user.upsert({ where: { id: 1 }, create: { tenant_id: "a" }, update });
    // @ts-expect-error: the tenant is missing
    await db.user.upsert({ where: { email: "e" }, create: {}, update });
    // @ts-expect-error: another type
    await db.user.upsert({ where: { email: "e" }, create: { tenant_id: "a", email: 1 }, update });
    // @ts-expect-error: not unique
    await db.user.upsert({ where: { tenant_id: "a" }, create: { email: "e" }, update });
  });
});

test("code that is generic over models passes its input on", () => {
  class Crud<M extends AnyModel> {
    readonly rows: Repository<M>;
    constructor(rows: Repository<M>) {
      this.rows = rows;
    }
    create(data: CreateInput<M>): Promise<Row<M>> {
      return this.rows.create({ data });
    }
    update(where: UniqueWhere<M>, data: UpdateInput<M>): Promise<Row<M>> {
      return this.rows.update({ where, data });
    }
    save(where: UniqueWhere<M>, create: CreateInput<M>, update: UpdateInput<M>): Promise<Row<M>> {
      return this.rows.upsert({ where, create, update });
    }
    list(where: Where<M>) {
      return this.rows.findMany({ where });
    }
  }
  compiles(async () => {
    const users = new Crud(inject(Db).user);
    same<Awaited<ReturnType<typeof users.create>>, UserRow>();
    same<Awaited<ReturnType<typeof users.list>>, UserRow[]>();
    await users.create({ tenant_id: "a", email: "e" });
    // @ts-expect-error: the e-mail is missing
    await users.create({ tenant_id: "a" });
    // @ts-expect-error: not unique
    await users.update({ tenant_id: "a" }, {});
  });
});

test("a scope is taken out of the input", () => {
  compiles(async () => {
    const db = inject(Db);
    const users = db.user.scoped({ tenant_id: "a" });
    await users.create({ data: { email: "e" } });
    // @ts-expect-error: set by the scope
    await users.create({ data: { email: "e", tenant_id: "b" } });
    // @ts-expect-error: set by the scope
    await users.update({ where: { id: 1 }, data: { tenant_id: "b" } });
    // @ts-expect-error: in the scope already
    users.scoped({ tenant_id: "b" });
    // @ts-expect-error: no such column
    db.user.scoped({ nope: 1 });
    // @ts-expect-error: another type
    db.user.scoped({ tenant_id: 1 });
    // @ts-expect-error: a scope has values
    db.user.scoped({ nick: null });
    const narrow = users.scoped({ active: true });
    // @ts-expect-error: set by the scope
    await narrow.create({ data: { email: "e", active: false } });
  });
});

test("Kysely knows the models' tables as the driver does", () => {
  same<Selectable<TableOf<typeof User>>["active"], boolean | 0 | 1>();
  fits<Insertable<TableOf<typeof User>>>([{ tenant_id: "a", email: "e" }]);
  compiles(async () => {
    const db = inject(Db);
    await db.kysely.selectFrom("users").select(["id", "nick"]).where("active", "=", true).execute();
    // @ts-expect-error: no such table
    db.kysely.selectFrom("posts");
    // @ts-expect-error: no such column
    db.kysely.selectFrom("users").select("nope");
  });
});

test("a service is opened and provided by its class", () => {
  compiles(async () => {
    const options = DbOptions.fromUrl("sqlite::memory:");
    const db = await Db.open(options);
    same<typeof db, Db>();
    DbModule.forRoot(Db, options);
    // @ts-expect-error: a service without models
    DbModule.forRoot(DbService, options);
    // @ts-expect-error: a class that is no service
    DbModule.forRoot(class {}, options);
    // @ts-expect-error: options, not a URL
    DbModule.forRoot(Db, "sqlite::memory:");
  });
});

test("a field's default is of its kind", () => {
  // @ts-expect-error: the text of SQLite is missing
  compiles(() => field.integer().defaultSql({ postgres: "1", mysql: "1" }));
  // @ts-expect-error: another type
  compiles(() => field.integer().default("1"));
  // @ts-expect-error: not made by field
  compiles(() => model("t", { id: "integer" }));
});

test("Kysely has the names of the database, and rows those of the model", () => {
  const Named = model("people", {
    id: field.integer().primaryKey(),
    name: field.text().nullable().map("full_name"),
  }, { table: "users", schema: "auth" });
  const Plain = model("pets", { id: field.integer().primaryKey() });
  same<Row<typeof Named>, { id: number; name: string | null }>();
  same<keyof TableOf<typeof Named>, "id" | "full_name">();
  class _Names extends DbService.with({ person: Named, pet: Plain }) {}
  compiles((db: _Names) => db.kysely.selectFrom("auth.users").select("full_name").execute());
  // @ts-expect-error: the table has another name
  compiles((db: _Names) => db.kysely.selectFrom("people").select("id").execute());
  compiles((db: _Names) =>
    db.person.count({
      where: {
        AND: [(eb) =>
          eb.exists(eb.selectFrom("pets").select("pets.id").whereRef("full_name", "=", "pets.id"))],
      },
    })
  );
  compiles((db: _Names) =>
    db.pet.count({
      // @ts-expect-error: the column has another name
      where: { AND: [(eb) => eb.exists(eb.selectFrom("auth.users").select("name"))] },
    })
  );
  // @ts-expect-error: the option is unknown
  compiles(() => model("t", { id: field.integer().primaryKey() }, { tabel: "users" }));
});
