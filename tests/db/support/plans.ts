/** How databases run statements. */
import { CompiledQuery, type Kysely } from "kysely";
import type { Brand } from "./database.ts";
import type { Noted } from "./noted.ts";

const EXPLAIN: Readonly<Record<Brand, string>> = {
  sqlite: "explain query plan",
  postgres: "explain",
  mysql: "explain format=traditional",
};

/** Returns the plan of a noted statement as text: on MySQL each line names its columns. */
export async function planOf<T>(
  kysely: Kysely<T>,
  brand: Brand,
  [sql, ...values]: Noted,
): Promise<string> {
  const query = CompiledQuery.raw(`${EXPLAIN[brand]} ${sql}`, values);
  const { rows } = await kysely.executeQuery<Record<string, unknown>>(query);
  if (brand === "mysql") return rows.map((row) => JSON.stringify(row)).join("\n");
  return rows.map((row) => row[brand === "sqlite" ? "detail" : "QUERY PLAN"]).join("\n");
}
