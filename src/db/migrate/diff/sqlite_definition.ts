/**
 * The definitions of the tables of SQLite, of which its pragmas omit parts.
 *
 * @module
 */
import { closingOf, unquoted } from "./table_schema.ts";

/** What the pragmas omit of a table. */
export interface SqliteDefinition {
  /** The conditions of the checks. */
  readonly checks: readonly string[];
  /** The columns by their names in lower case. */
  readonly columns: ReadonlyMap<string, SqliteColumn>;
  /** The columns, in lower case, whose foreign keys are checked at the end of a transaction. */
  readonly deferred: ReadonlySet<string>;
  /** What follows the columns: ` strict`. */
  readonly options: string;
  /** Constraints that models cannot declare, such as foreign keys of several columns. */
  readonly others: readonly string[];
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
const TABLE_CONSTRAINT = /^(?:constraint|primary|unique|check|foreign)$/i;

/** Reads the SQL that has created a table. */
export function readDefinition(text: string): SqliteDefinition {
  const tokens = Array.from(text.matchAll(TOKENS), ([it]) => COMMENT.test(it) ? " " : it);
  const sql = tokens.join("");
  const start = tokens.slice(0, tokens.indexOf("(")).join("").length; // a name can have a parenthesis
  const end = start + closingOf(sql.slice(start), TOKENS);
  const columns = new Map<string, SqliteColumn>();
  const checks: string[] = [];
  const others: string[] = [];
  const deferred = new Set<string>();
  for (const item of itemsOf(sql.slice(start + 1, end))) {
    const [first = ""] = item.match(TOKENS) ?? [];
    checks.push(...checksOf(item));
    const isColumn = !TABLE_CONSTRAINT.test(first);
    const [, keys = ""] = /foreign\s+key\s*\(([^)]*)\)/i.exec(item) ?? [];
    const name = unquoted(isColumn ? first : keys.trim()).toLowerCase();
    if (isDeferred(item)) deferred.add(name);
    if (isColumn) columns.set(name, columnOf(item.slice(first.length)));
    else if (keys.includes(",")) others.push(item.trim());
  }
  const options = sql.slice(end + 1).trim().toLowerCase();
  return { checks, columns, deferred, options: options && ` ${options}`, others };
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

/** Returns the expressions in the parentheses after a word. */
function checksOf(item: string): readonly string[] {
  const checks: string[] = [];
  let depth = 0;
  let isAfter = false;
  for (const { 0: token, index } of item.matchAll(TOKENS)) {
    if (token === "(") {
      if (depth++ === 0 && isAfter) {
        const rest = item.slice(index);
        checks.push(rest.slice(1, closingOf(rest, TOKENS)));
      }
    } else if (token === ")") depth--;
    if (depth === 0 && token.trim() !== "") isAfter = /^check$/i.test(token);
  }
  return checks;
}

/** Checks whether the foreign key in a definition is `deferrable initially deferred`. */
function isDeferred(item: string): boolean {
  let depth = 0;
  const words: string[] = [];
  for (const [token] of item.matchAll(TOKENS)) {
    if (token === ")") depth--;
    if (depth === 0 && token.trim() !== "") words.push(token.toLowerCase());
    if (token === "(") depth++;
  }
  return /(?<! not) deferrable initially deferred(?: |$)/.test(words.join(" "));
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
