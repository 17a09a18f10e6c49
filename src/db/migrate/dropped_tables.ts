/**
 * Tables that a script of SQLite drops, and the rows that refer to them.
 *
 * @module
 */
import { type Kysely, sql } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import { statementsOf } from "./script.ts";

/** A name in tokens, and the place after it. */
interface FoundName {
  readonly name: string;
  readonly end: number;
}

/** What a statement does to a table. */
type TableStep =
  | { readonly creates: string }
  | { readonly drops: string }
  | { readonly renames: string; readonly to: string };

/** A column that refers to a table. */
interface Reference {
  readonly child: string;
  readonly parent: string;
  readonly column: string;
}

/**
 * Refuses a script that drops a table while rows refer to it, if foreign keys are on: D1 ignores
 * that they are switched off. Dropping a table deletes its rows first, and by `on delete cascade`
 * those that refer to them, without an error. References and rows are read as they are before the
 * script: those that it adds are not seen.
 *
 * @throws {TypeError} naming the tables
 */
export async function refuseCascades(script: string, kysely: Kysely<AnyTables>): Promise<void> {
  const steps = statementsOf(script, "SQLite").flatMap(({ tokens }) => stepOf(tokens) ?? []);
  if (!steps.some((step) => "drops" in step) || !await areForeignKeysOn(kysely)) return;
  const references = await referencesOf(kysely);
  const gone = new Set<string>();
  /** The names of tables before the script, by those that it has renamed them to. */
  const names = new Map<string, string>();
  for (const step of steps) {
    if ("creates" in step) {
      gone.delete(step.creates);
      continue;
    }
    if ("renames" in step) {
      names.set(step.to, names.get(step.renames) ?? step.renames);
      gone.delete(step.to);
      continue;
    }
    const table = names.get(step.drops) ?? step.drops;
    gone.add(table);
    for (const reference of references) {
      const { child, parent } = reference;
      const isOther = child.toLowerCase() !== table;
      if (parent.toLowerCase() !== table || (isOther && gone.has(child.toLowerCase()))) continue;
      if (!await hasRows(reference, kysely)) continue;
      throw new TypeError(
        `Cannot run script: it drops ${parent} while rows of ${child} refer to it, and this ` +
          "database keeps foreign keys on, so that these rows may be deleted too; first copy " +
          `${child} to a table without references, and drop it`,
      );
    }
  }
}

function stepOf(tokens: readonly string[]): TableStep | undefined {
  const start = tokens.slice(0, 4).join(" ");
  if (start.startsWith("drop table ")) {
    return { drops: nameAt(tokens, start === "drop table if exists" ? 4 : 2).name };
  }
  if (start.startsWith("create table ")) {
    return { creates: nameAt(tokens, start === "create table if not" ? 5 : 2).name };
  }
  if (!start.startsWith("alter table ")) return undefined;
  const { name, end } = nameAt(tokens, 2);
  const isRenamed = tokens[end] === "rename" && tokens[end + 1] === "to";
  return isRenamed ? { renames: name, to: nameAt(tokens, end + 2).name } : undefined;
}

/** Reads a name, which may be after that of a schema; of quoted ones, two quotes are one. */
function nameAt(tokens: readonly string[], start: number): FoundName {
  const first = tokens[start] ?? "";
  const quote = /^["'`]/.exec(first)?.[0];
  let end = start + 1;
  while (quote && tokens[end]?.startsWith(quote)) end++;
  if (tokens[end] === ".") return nameAt(tokens, end + 1);
  if (first.startsWith("[")) return { name: first.slice(1, -1), end };
  if (!quote) return { name: first, end };
  const text = tokens.slice(start, end).join("").slice(1, -1);
  return { name: text.replaceAll(quote + quote, quote), end };
}

async function areForeignKeysOn(kysely: Kysely<AnyTables>): Promise<boolean> {
  const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(kysely);
  return Boolean(rows[0]?.foreign_keys);
}

async function referencesOf(kysely: Kysely<AnyTables>): Promise<readonly Reference[]> {
  // D1 has tables that cannot be read.
  const { rows } = await sql<Reference>`
    select m.name as child, f."table" as parent, f."from" as "column"
    from sqlite_master m join pragma_foreign_key_list(m.name) f
    where m.type = 'table' and m.name not like '~_cf~_%' escape '~'`.execute(kysely);
  return rows;
}

async function hasRows(
  { child, column }: Reference,
  kysely: Kysely<AnyTables>,
): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.id(child)} where ${sql.id(column)} is not null
    limit 1`.execute(kysely);
  return rows.length > 0;
}
