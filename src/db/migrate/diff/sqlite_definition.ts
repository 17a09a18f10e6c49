/**
 * The definitions of the tables of SQLite, of which its pragmas omit parts.
 *
 * @module
 */
import { closingOf } from "./table_schema.ts";

/** What the pragmas omit of a table. */
export interface SqliteDefinition {
  /** The conditions of the checks. */
  readonly checks: readonly string[];
  /** The columns by their names in lower case. */
  readonly columns: ReadonlyMap<string, SqliteColumn>;
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
  /--.*|\/\*[^]*?\*\/|'(?:''|[^'])*'|"(?:""|[^"])*"|`[^`]*`|\[[^\]]*\]|[\p{L}_][\p{L}\p{N}_$]*|\s+|[^]/gu;
const COMMENT = /^(?:--|\/\*)/;
const TABLE_CONSTRAINT = /^(?:constraint|primary|unique|check|foreign)$/i;

/** Reads the SQL that has created a table. */
export function readDefinition(text: string): SqliteDefinition {
  const sql = [...text.matchAll(TOKENS)].map(([token]) => COMMENT.test(token) ? " " : token).join(
    "",
  );
  const start = sql.indexOf("(");
  const end = start + closingOf(sql.slice(start));
  const columns = new Map<string, SqliteColumn>();
  const checks: string[] = [];
  const others: string[] = [];
  for (const item of itemsOf(sql.slice(start + 1, end))) {
    const [first = ""] = item.match(TOKENS) ?? [];
    checks.push(...checksOf(item));
    if (!TABLE_CONSTRAINT.test(first)) {
      columns.set(unquoted(first).toLowerCase(), columnOf(item.slice(first.length)));
      continue;
    }
    const [, keys = ""] = /foreign\s+key\s*\(([^)]*)\)/i.exec(item) ?? [];
    if (keys.includes(",")) others.push(item.trim());
  }
  const options = sql.slice(end + 1).trim().toLowerCase();
  return { checks, columns, options: options && ` ${options}`, others };
}

/** Returns a name without its quotes. */
export function unquoted(name: string): string {
  return /^["`[]/.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name;
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
        checks.push(rest.slice(1, closingOf(rest)));
      }
    } else if (token === ")") depth--;
    if (depth === 0 && token.trim() !== "") isAfter = /^check$/i.test(token);
  }
  return checks;
}

function columnOf(rest: string): SqliteColumn {
  // Texts and names in the definition must not be read as its words.
  const tokens = [...rest.matchAll(TOKENS)];
  let depth = 0;
  let collation: string | undefined;
  let computed: string | undefined;
  let isAutoincrement = false;
  for (const [place, { 0: token, index }] of tokens.entries()) {
    if (token === ")") depth--;
    if (depth === 0) {
      const next = tokens.slice(place + 1).find(([it]) => it.trim() !== "");
      if (/^collate$/i.test(token)) collation = unquoted(next?.[0] ?? "");
      if (/^autoincrement$/i.test(token)) isAutoincrement = true;
      if (/^as$/i.test(token) && next) {
        const expression = rest.slice(
          next.index,
          next.index + 1 + closingOf(rest.slice(next.index)),
        );
        const isStored = /\bstored\b/i.test(rest.slice(index));
        computed = `generated always as ${expression} ${isStored ? "stored" : "virtual"}`;
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
