/** TypeORM over `pg`, with a schema of the entity in place of decorators. */
import { DataSource, EntitySchema } from "typeorm";
import type { User } from "../../fixtures.ts";
import { options } from "../options.ts";
import { DEFAULTS, POOL_MAX, type UserStore } from "./store.ts";

const UserEntity = new EntitySchema<User & { readonly tenant_id: string }>({
  name: "users",
  columns: {
    id: { type: "integer", primary: true, generated: "increment" },
    tenant_id: { type: "text" },
    email: { type: "text" },
    name: { type: "text" },
    active: { type: "boolean" },
  },
});
const select = { id: true, email: true, name: true, active: true } as const;

/** Connects. */
export async function open(): Promise<UserStore> {
  const source = await new DataSource({
    type: "postgres",
    url: options.databaseUrl,
    poolSize: POOL_MAX,
    entities: [UserEntity],
  }).initialize();
  const users = source.getRepository(UserEntity);
  return {
    one: (id) => users.findOne({ where: { id }, select }),
    list: (take) => users.find({ order: { id: "ASC" }, take, select }),
    async create(user) {
      const { id, email, name, active } = await users.save({ ...DEFAULTS, ...user });
      return { id, email, name, active };
    },
  };
}
