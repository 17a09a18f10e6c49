/**
 * Prisma and Drizzle. They are installed into a folder of their own when a benchmark runs, and gone
 * with it: with its tools Prisma takes 300 MB, which nothing else needs.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ROOT } from "../support/project.ts";
import { packageVersion } from "./compare.ts";

const VERSIONS = {
  "@prisma/adapter-pg": "7.10.1",
  "@prisma/client": "7.10.0",
  "drizzle-orm": "0.45.4",
  pg: "8.23.1",
  prisma: "7.10.1",
};
/** Everything is on the disk and in npm: Prisma is to fetch no engine, which it does not need. */
const OFFLINE = { CHECKPOINT_DISABLE: "1", PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };

/** Finds users on PostgreSQL. */
export interface UserFinder extends AsyncDisposable {
  /** Finds one. */
  one(id: number): Promise<unknown>;
}

/** The peers that are installed. */
export interface Peers extends AsyncDisposable {
  /** Their versions. */
  readonly versions: Readonly<Record<string, string>>;
  /** Connects Prisma; of calls made at once it may make one query. */
  prisma(url: string): UserFinder;
  /** Connects Drizzle over `postgres`, without `.prepare()`. */
  drizzle(url: string): UserFinder;
}

// What is used of packages that are not there when this is checked.

interface PrismaClient {
  readonly users: { findUnique(query: { where: { id: number } }): Promise<unknown> };
  $disconnect(): Promise<void>;
}

interface PrismaPackages {
  readonly PrismaClient: new (options: { adapter: unknown }) => PrismaClient;
  readonly PrismaPg: new (options: { connectionString: string; max: number }) => unknown;
}

interface DrizzleTable {
  readonly id: unknown;
}

interface DrizzleDb {
  select(): { from(table: DrizzleTable): { where(condition: unknown): Promise<unknown[]> } };
}

type DrizzleColumn = (options?: { mode: "number" }) => { readonly notNull: () => unknown };

interface DrizzlePackages {
  drizzle(client: unknown): DrizzleDb;
  eq(column: unknown, value: unknown): unknown;
  pgTable(name: string, columns: Record<string, unknown>): DrizzleTable;
  readonly bigint: DrizzleColumn;
  readonly boolean: DrizzleColumn;
  readonly text: DrizzleColumn;
}

/** Installs the peers. */
export async function installPeers(): Promise<Peers> {
  const folder = await mkdtemp(join(tmpdir(), "fw-bench-"));
  const remove = () => rm(folder, { recursive: true });
  try {
    return { ...await install(folder), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function install(folder: string): Promise<Omit<Peers, typeof Symbol.asyncDispose>> {
  const postgres = packageVersion(join(ROOT, "node_modules/postgres"));
  const dependencies = { ...VERSIONS, postgres };
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  await copyFile(
    fileURLToPath(new URL("peers.prisma", import.meta.url)),
    join(folder, "schema.prisma"),
  );
  const options = { cwd: folder, env: { ...process.env, ...OFFLINE } };
  const run = promisify(execFile);
  const quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", ...quietly], options);
  await run("npx", ["prisma", "generate", "--schema", "schema.prisma"], options);

  const require = createRequire(join(folder, "package.json"));
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
    prisma: (url) => prismaFinder(url, prisma),
    drizzle: (url) => drizzleFinder(require("postgres")(url, { max: 10 }), drizzle),
  };
}

function prismaFinder(url: string, { PrismaClient, PrismaPg }: PrismaPackages): UserFinder {
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 10 }) });
  return {
    one: (id) => client.users.findUnique({ where: { id } }),
    [Symbol.asyncDispose]: () => client.$disconnect(),
  };
}

function drizzleFinder(
  client: { end(): Promise<void> },
  { drizzle, eq, pgTable, bigint, boolean, text }: DrizzlePackages,
): UserFinder {
  const users = pgTable("users", {
    id: bigint({ mode: "number" }).notNull(),
    tenant_id: text().notNull(),
    email: text().notNull(),
    name: text().notNull(),
    active: boolean().notNull(),
  });
  const db = drizzle(client);
  return {
    one: (id) => db.select().from(users).where(eq(users.id, id)),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
