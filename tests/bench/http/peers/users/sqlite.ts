/** The driver of SQLite by hand: statements that are prepared once. */
import { DatabaseSync } from "node:sqlite";
import type { User } from "../../fixtures.ts";
import { options } from "../options.ts";
import { DEFAULTS, type UserStore } from "./store.ts";

type Row = Omit<User, "active"> & { readonly active: number };

/** Opens the file. */
export function open(): UserStore {
  const db = new DatabaseSync(options.databasePath);
  db.exec("pragma journal_mode = wal");
  const one = db.prepare("select id, email, name, active from users where id = ?");
  const list = db.prepare("select id, email, name, active from users order by id limit ?");
  const create = db.prepare(
    "insert into users (tenant_id, email, name, active) values (?, ?, ?, ?) " +
      "returning id, email, name, active",
  );
  return {
    one(id) {
      const row = one.get(id) as Row | undefined;
      return row && toUser(row);
    },
    list: (take) => (list.all(take) as unknown as Row[]).map(toUser),
    create: ({ email, name }) =>
      toUser(
        create.get(DEFAULTS.tenant_id, email, name, Number(DEFAULTS.active)) as unknown as Row,
      ),
  };
}

function toUser({ id, email, name, active }: Row): User {
  return { id, email, name, active: active === 1 };
}
