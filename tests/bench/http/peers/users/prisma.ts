/** Prisma with the adapter of `pg`, and of libSQL, whose binaries npm has. */
import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { options } from "../options.ts";
import { DEFAULTS, POOL_MAX, type UserStore } from "./store.ts";

const select = { id: true, email: true, name: true, active: true } as const;

/** Connects the client that was generated for the database. */
export async function open(): Promise<UserStore> {
  const { PrismaClient } = await import(`../../.built/prisma_${options.mode}/generated/client.ts`);
  const adapter = options.mode === "sqlite"
    ? new PrismaLibSql({ url: `file:${options.databasePath}` })
    : new PrismaPg({ connectionString: options.databaseUrl, max: POOL_MAX });
  const { users } = new PrismaClient({ adapter });
  return {
    one: (id) => users.findUnique({ where: { id }, select }),
    list: (take) => users.findMany({ orderBy: { id: "asc" }, take, select }),
    create: (user) => users.create({ data: { ...DEFAULTS, ...user }, select }),
  };
}
