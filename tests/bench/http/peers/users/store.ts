/** What the peers do with users, and the store of each. */
import process from "node:process";
import type { User } from "../../fixtures.ts";
import { options } from "../options.ts";

/** What a client sends to create a user. */
export type NewUser = Pick<User, "email" | "name">;

/** The table of users. */
export interface UserStore {
  one(id: number): Result<User | null | undefined>;
  /** The first users by id. */
  list(take: number): Result<readonly User[]>;
  create(user: NewUser): Result<User>;
}

/** The columns of a created user that no client sends. */
export const DEFAULTS = { tenant_id: "demo", active: true } as const;
/** How many connections to the server a peer opens. */
export const POOL_MAX = 10;

type Result<T> = T | Promise<T>;

const stores: Readonly<Record<string, () => Promise<{ open(): Result<UserStore> }>>> = {
  sql: () => options.mode === "sqlite" ? import("./sqlite.ts") : import("./postgres.ts"),
  drizzle: () => import("./drizzle.ts"),
  prisma: () => import("./prisma.ts"),
  typeorm: () => import("./typeorm.ts"),
};

/** Opens the store that `PEER` names after the framework, as in `hono_drizzle`. */
export async function openStore(): Promise<UserStore> {
  const [, name = ""] = process.env.PEER?.split("_") ?? [];
  const load = stores[name];
  if (!load) throw new Error(`Unknown store: ${name}`);
  return await (await load()).open();
}
