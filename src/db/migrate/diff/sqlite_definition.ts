/**
 * The definitions of the tables of SQLite, of which its pragmas omit parts.
 *
 * @module
 */
import { closingOf, unquoted } from "./table_schema.ts";

/** What the pragmas omit of a table. */
export interface SqliteDefinition {
  /** The checks. */
  readonly checks: readonly SqliteCheck[];
  /** The columns by their names in lower case. */
  readonly columns: ReadonlyMap<string, SqliteColumn>;
  /** The columns, in lower case, whose foreign keys are checked at the end of a transaction. */
  readonly deferred: ReadonlySet<string>;
  /** What inserts do about rows that exist: `on conflict replace of (a, b)`. */
  readonly conflicts: readonly string[];
  /** What follows the columns: ` strict`. */
  readonly options: string;
  /** Constraints that models cannot declare, such as foreign keys of several columns. */
  readonly others: readonly string[];
}

/** A check. */
export interface SqliteCheck {
  /** Its condition. */
  readonly condition: string;
  /** Its name, as it is quoted. */
  readonly name?: string | undefined;
}

/** What the pragmas omit of a column. */
export interface SqliteColumn {
  /** Its collation. */
  readonly collation?: string;
  /** The SQL of a column that is computed. */
  readonly computed?: string;
  /** Whether its keys are never reused. */
  readonly isAutoincrement: boolean;
}

const TOKENS =
  /--.*|\/\*[^]*?\*\/|'(?:''|[^'])*'|"(?:""|[^"])*"|`(?:``|[^`])*`|\[[^\]]*\]|[\p{L}_][\p{L}\p{N}_$]*|\s+|[^]/gu;
const COMMENT = /^(?:--|\/\*)/;
const DEFERRED = /(?<! not) deferrable initially deferred(?: |$)/;
/** The clauses other than the default, `on conflict abort`. */
const CONFLICT = /(?<= )on conflict (?:rollback|fail|ignore|replace)(?= |$)/g;
const TABLE_CONSTRAINT = /^(?:constraint|primary|unique|check|foreign)$/i;

/** Reads the SQL that has created a table. */
export function readDefinition(text: string): SqliteDefinition {
  const tokens = Array.from(text.matchAll(TOKENS), ([it]) => COMMENT.test(it) ? " " : it);
  const sql = tokens.join("");
  const start = tokens.slice(0, tokens.indexOf("(")).join("").length; // a name can have a parenthesis
  const end = start + closingOf(sql.slice(start), TOKENS);
  const columns = new Map<string, SqliteColumn>();
  const checks: SqliteCheck[] = [];
  const conflicts: string[] = [];
  const others: string[] = [];
  const deferred = new Set<string>();
  for (const item of itemsOf(sql.slice(start + 1, end))) {
    const [first = ""] = item.match(TOKENS) ?? [];
    checks.push(...checksOf(item));
    const isColumn = !TABLE_CONSTRAINT.test(first);
    const [, keys = ""] = /foreign\s+key\s*\(([^)]*)\)/i.exec(item) ?? [];
    const name = unquoted(isColumn ? first : keys.trim()).toLowerCase();
    const words = outerWords(item);
    if (DEFERRED.test(words)) deferred.add(name);
    const [list = ""] = /\([^)]*\)/.exec(item) ?? [];
    for (const [conflict] of words.matchAll(CONFLICT)) {
      conflicts.push(`${conflict} of ${isColumn ? `(${first})` : list}`);
    }
    if (isColumn) columns.set(name, columnOf(item.slice(first.length)));
    else if (keys.includes(",")) others.push(item.trim());
  }
  const options = sql.slice(end + 1).trim().toLowerCase();
  return { checks, columns, conflicts, deferred, options: options && ` ${options}`, others };
}

/** Splits a list at the commas outside of parentheses. */
function itemsOf(list: string): readonly string[] {
  const items = [""];
  let depth = 0;
  for (const [token] of list.matchAll(TOKENS)) {
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (token === "," && depth === 0) items.push("");
    else items[items.length - 1] += token;
  }
  return items.map((item) => item.trim());
}

/** Returns the checks in the definition of a column, or of a constraint. */
function checksOf(item: string): readonly SqliteCheck[] {
  const checks: SqliteCheck[] = [];
  let depth = 0;
  let name: string | undefined;
  let last = "";
  for (const { 0: token, index } of item.matchAll(TOKENS)) {
    if (token === "(") {
      if (depth++ === 0 && last === "check") {
        const rest = item.slice(index);
        checks.push({ condition: rest.slice(1, closingOf(rest, TOKENS)), name });
        name = undefined;
      }
    } else if (token === ")") depth--;
    else if (depth === 0 && token.trim() !== "") {
      if (last === "constraint") name = token;
      else if (!/^check$/i.test(token)) name = undefined;
    }
    if (depth === 0 && token.trim() !== "") last = token.toLowerCase();
  }
  return checks;
}

/** Returns the words outside of parentheses, in lower case. */
function outerWords(item: string): string {
  let depth = 0;
  const words: string[] = [];
  for (const [token] of item.matchAll(TOKENS)) {
    if (token === ")") depth--;
    if (depth === 0 && token.trim() !== "") words.push(token.toLowerCase());
    if (token === "(") depth++;
  }
  return words.join(" ");
}

function columnOf(rest: string): SqliteColumn {
  // Texts and names in the definition must not be read as its words.
  const tokens = [...rest.matchAll(TOKENS)];
  let depth = 0;
  let collation: string | undefined;
  let computed: string | undefined;
  let isAutoincrement = false;
  for (const [place, [token]] of tokens.entries()) {
    if (token === ")") depth--;
    if (depth === 0) {
      const next = tokens.slice(place + 1).find(([it]) => it.trim() !== "");
      if (/^collate$/i.test(token)) collation = unquoted(next?.[0] ?? "");
      if (/^autoincrement$/i.test(token)) isAutoincrement = true;
      if (/^as$/i.test(token) && next) {
        const end = next.index + 1 + closingOf(rest.slice(next.index), TOKENS);
        const isStored = /^\s*stored\b/i.test(rest.slice(end));
        computed = `generated always as ${rest.slice(next.index, end)} ${
          isStored ? "stored" : "virtual"
        }`;
      }
    }
    if (token === "(") depth++;
  }
  return {
    isAutoincrement,
    ...collation !== undefined && { collation },
    ...computed !== undefined && { computed },
  };
}
