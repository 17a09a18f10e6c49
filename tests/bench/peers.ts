/**
 * Prisma and Drizzle. They are installed into a folder of their own when a benchmark runs, and gone
 * with it: with its tools Prisma takes 300 MB, which nothing else needs.
 *
 * @module
 */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ROOT } from "../support/project.ts";
import { packageVersion } from "./compare.ts";
import { type Installed, installPackages } from "./installed.ts";
import { AUTHORS, PAGE, type Store } from "./stores.ts";
import type { NewUser } from "./users.ts";

const VERSIONS = {
  "@prisma/adapter-pg": "7.10.1",
  "@prisma/client": "7.10.0",
  "drizzle-orm": "0.45.4",
  pg: "8.23.1",
  prisma: "7.10.1",
};
/** Everything is on the disk and in npm: Prisma is to fetch no engine, which it does not need. */
const OFFLINE = { CHECKPOINT_DISABLE: "1", PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };

/** The peers that are installed. */
export interface Peers extends AsyncDisposable {
  /** Their versions. */
  readonly versions: Readonly<Record<string, string>>;
  /** Connects Prisma; of calls made at once it may make one query. */
  prisma(url: string): Store;
  /** Connects Drizzle over `postgres`, without `.prepare()`. */
  drizzle(url: string): Store;
}

// What is used of packages that are not there when this is checked.

type Query<A> = (options: A) => Promise<unknown>;

interface PrismaClient {
  readonly users: {
    readonly findUnique: Query<{ where: { id: number } }>;
    readonly findMany: Query<
      { where: { id: object }; orderBy?: object; take?: number; include?: { posts: true } }
    >;
    readonly create: Query<{ data: NewUser }>;
    readonly createMany: Query<{ data: readonly NewUser[] }>;
    readonly update: Query<{ where: { id: number }; data: { name: string } }>;
  };
  $disconnect(): Promise<void>;
}

interface PrismaPackages {
  readonly PrismaClient: new (options: { adapter: unknown }) => PrismaClient;
  readonly PrismaPg: new (options: { connectionString: string; max: number }) => unknown;
}

interface DrizzleTable {
  readonly id: unknown;
  readonly author_id: unknown;
}

interface DrizzleRows extends Promise<unknown[]> {
  where(condition: unknown): DrizzleRows;
  orderBy(column: unknown): DrizzleRows;
  limit(rows: number): DrizzleRows;
  returning(): DrizzleRows;
}

interface DrizzleDb {
  select(): { from(table: DrizzleTable): DrizzleRows };
  insert(table: DrizzleTable): { values(rows: unknown): DrizzleRows };
  update(table: DrizzleTable): { set(values: unknown): DrizzleRows };
  readonly query: {
    readonly users: { readonly findMany: Query<{ where: unknown; with: object }> };
  };
}

type DrizzleColumn = (options?: { mode: "number" }) => {
  readonly notNull: () => unknown;
  readonly primaryKey: () => { readonly generatedByDefaultAsIdentity: () => unknown };
};

type Compare = (column: unknown, value: unknown) => unknown;
type Relate = (relations: { one: Compare; many: (table: DrizzleTable) => unknown }) => object;

interface DrizzlePackages {
  drizzle(client: unknown, options: { schema: object }): DrizzleDb;
  readonly eq: Compare;
  readonly gt: Compare;
  readonly lte: Compare;
  relations(table: DrizzleTable, relate: Relate): object;
  pgTable(name: string, columns: Record<string, unknown>): DrizzleTable;
  readonly bigint: DrizzleColumn;
  readonly boolean: DrizzleColumn;
  readonly text: DrizzleColumn;
}

/** Installs the peers. */
export async function installPeers(): Promise<Peers> {
  const postgres = packageVersion(join(ROOT, "node_modules/postgres"));
  const installed = await installPackages({ ...VERSIONS, postgres }, OFFLINE);
  try {
    return { ...await generate(installed), [Symbol.asyncDispose]: installed[Symbol.asyncDispose] };
  } catch (error) {
    await installed[Symbol.asyncDispose]();
    throw error;
  }
}

async function generate(
  { folder, require, run }: Installed,
): Promise<Omit<Peers, typeof Symbol.asyncDispose>> {
  await copyFile(
    fileURLToPath(new URL("peers.prisma", import.meta.url)),
    join(folder, "schema.prisma"),
  );
  await run("npx", ["prisma", "generate", "--schema", "schema.prisma"]);
  const prisma: PrismaPackages = {
    ...require("./generated/index.js"),
    ...require("@prisma/adapter-pg"),
  };
  const drizzle: DrizzlePackages = {
    ...require("drizzle-orm/pg-core"),
    ...require("drizzle-orm/postgres-js"),
    ...require("drizzle-orm"),
  };
  return {
    versions: { Prisma: VERSIONS.prisma, Drizzle: VERSIONS["drizzle-orm"] },
    prisma: (url) => prismaStore(url, prisma),
    drizzle: (url) => drizzleStore(require("postgres")(url, { max: 10 }), drizzle),
  };
}

function prismaStore(url: string, { PrismaClient, PrismaPg }: PrismaPackages): Store {
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 10 }) });
  const { users } = client;
  return {
    name: "Prisma",
    one: (id) => users.findUnique({ where: { id } }),
    page: (gt) => users.findMany({ where: { id: { gt } }, orderBy: { id: "asc" }, take: PAGE }),
    authors: () => users.findMany({ where: { id: { lte: AUTHORS } }, include: { posts: true } }),
    create: (data) => users.create({ data }),
    createMany: (data) => users.createMany({ data }),
    rename: (id, name) => users.update({ where: { id }, data: { name } }),
    [Symbol.asyncDispose]: () => client.$disconnect(),
  };
}

function drizzleStore(
  client: { end(): Promise<void> },
  { drizzle, eq, gt, lte, relations, pgTable, bigint, boolean, text }: DrizzlePackages,
): Store {
  const key = () => bigint({ mode: "number" }).primaryKey().generatedByDefaultAsIdentity();
  const users = pgTable("users", {
    id: key(),
    tenant_id: text().notNull(),
    email: text().notNull(),
    name: text().notNull(),
    active: boolean().notNull(),
  });
  const posts = pgTable("posts", {
    id: key(),
    author_id: bigint({ mode: "number" }).notNull(),
    title: text().notNull(),
  });
  const schema = {
    users,
    posts,
    ofUsers: relations(users, ({ many }) => ({ posts: many(posts) })),
    ofPosts: relations(posts, ({ one }) => ({
      author: one(users, { fields: [posts.author_id], references: [users.id] }),
    })),
  };
  const db = drizzle(client, { schema });
  const all = () => db.select().from(users);
  return {
    name: "Drizzle",
    one: (id) => all().where(eq(users.id, id)),
    page: (id) => all().where(gt(users.id, id)).orderBy(users.id).limit(PAGE),
    authors: () =>
      db.query.users.findMany({ where: lte(users.id, AUTHORS), with: { posts: true } }),
    create: (user) => db.insert(users).values(user).returning(),
    createMany: (rows) => db.insert(users).values(rows),
    rename: (id, name) => db.update(users).set({ name }).where(eq(users.id, id)).returning(),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
