/**
 * The scripts of a migration by difference.
 *
 * @module
 */
import type { Grammar } from "../../connection/grammar.ts";
import { describeReplaced } from "./change_texts.ts";
import type { SchemaChange } from "./compare.ts";
import { mysqlScript, settled } from "./mysql_script.ts";
import { postgresScript, postgresSlowScript, withoutSlowParts } from "./postgres_script.ts";
import { inverseOf, renamed } from "./rename.ts";
import type { Script, ScriptOptions } from "./script_parts.ts";
import { sqliteScript } from "./sqlite_script.ts";

/** A migration: its scripts, and what its name ends with. */
export interface MigrationScripts {
  /** The end of its name, such as `_concurrently`; mostly nothing. */
  readonly suffix: string;
  /** Runs it. */
  readonly up: string;
  /** Rolls it back. */
  readonly down: string;
}

/** Migrations, and what they change. */
export interface WrittenMigrations {
  /** What they change. */
  readonly change: SchemaChange;
  /** What they drop, beside what the models no longer declare. */
  readonly losses: readonly string[];
  /** The migrations in their order: at most two. */
  readonly migrations: readonly MigrationScripts[];
}

const SCRIPTS: Readonly<Record<Grammar["brand"], (options: ScriptOptions) => Script>> = {
  PostgreSQL: postgresScript,
  MySQL: mysqlScript,
  SQLite: sqliteScript,
};
const NOTHING = "select 1";

/** Writes the migrations that change tables, with what undoes them. */
export function writeMigrations(
  options: ScriptOptions,
  { brand }: Pick<Grammar, "brand">,
): WrittenMigrations {
  const { from, to, renames } = options;
  const script = SCRIPTS[brand];
  const { change, statements, losses = [] } = script(options);
  const undo = (after: ScriptOptions["to"]) => {
    const { change, statements } = script({
      from: after,
      to: from,
      renames: inverseOf(renames),
      fills: new Map(),
    });
    const comments = change.altered.flatMap(describeReplaced).map((text) => `-- ${text}\n`);
    return comments.join("") + textOf(statements);
  };
  if (brand !== "PostgreSQL") {
    const after = brand === "MySQL" ? settled(to, change) : to;
    const migrations = statements.length === 0
      ? []
      : [{ suffix: "", up: textOf(statements), down: undo(after) }];
    return { change, losses, migrations };
  }
  const middle = withoutSlowParts({ from: renamed(from, renames), to });
  const first = script({ ...options, to: middle }).statements;
  const slow = postgresSlowScript({ from: middle, to, fills: options.fills });
  const second = {
    up: `-- no transaction\n${textOf(slow)}`,
    down: textOf(
      script({ from: to, to: middle, renames: [], fills: new Map() }).statements,
    ),
  };
  return {
    change,
    losses,
    migrations: [
      ...first.length > 0 ? [{ suffix: "", up: textOf(first), down: undo(middle) }] : [],
      ...slow.length > 0 ? [{ suffix: first.length > 0 ? "_concurrently" : "", ...second }] : [],
    ],
  };
}

function textOf(statements: readonly string[]): string {
  // A down without statements would not exist, and the migration could not be rolled back.
  return `${(statements.length > 0 ? statements : [NOTHING]).join(";\n")};\n`;
}
