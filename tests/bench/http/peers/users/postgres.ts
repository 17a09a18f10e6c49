/** The driver of PostgreSQL by hand: tagged templates, which it prepares under names of its own. */
import postgres from "postgres";
import type { User } from "../../fixtures.ts";
import { options } from "../options.ts";
import { DEFAULTS, POOL_MAX, type UserStore } from "./store.ts";

/** Connects. */
export function open(): UserStore {
  const sql = postgres(options.databaseUrl, { max: POOL_MAX });
  return {
    async one(id) {
      const [user] = await sql<User[]>`select id, email, name, active from users where id = ${id}`;
      return user;
    },
    list: (take) =>
      sql<User[]>`select id, email, name, active from users order by id limit ${take}`,
    async create({ email, name }) {
      const [user] = await sql<[User]>`
        insert into users (tenant_id, email, name, active)
        values (${DEFAULTS.tenant_id}, ${email}, ${name}, ${DEFAULTS.active})
        returning id, email, name, active`;
      return user;
    },
  };
}
