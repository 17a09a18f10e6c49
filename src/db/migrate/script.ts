/**
 * Scripts of SQL.
 *
 * @module
 */
import { hexOf } from "../connection/codecs.ts";
import { CONTROL } from "../transaction/transaction_control.ts";

/** The SQL dialect of a script. */
export type ScriptBrand = "PostgreSQL" | "SQLite" | "MySQL";

const OUTSIDE_TRANSACTION = /^\uFEFF?--[ \t]*no transaction[ \t]*\r?(?:\n|$)/i;

/** Checks whether the first line of a script is `-- no transaction`. */
export function isOutsideTransaction(script: string): boolean {
  return OUTSIDE_TRANSACTION.test(script);
}

/** Returns the SHA-256 of a script in hexadecimal digits; its line endings do not matter. */
export async function checksumOf(script: string): Promise<string> {
  const text = script.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hexOf(new Uint8Array(digest));
}

/**
 * Comments, quoted text, words, and other characters one by one. As in the databases, a word has
 * any character beyond ASCII: in PostgreSQL, `$$` in or after one begins no text. Quoted text ends
 * with the script at the latest, so that the time is linear.
 */
const TOKENS: Readonly<Record<ScriptBrand, RegExp>> = {
  // In PostgreSQL a backslash escapes in E'', whose text goes on in the next line, and $$ quotes.
  PostgreSQL:
    /--[^\r\n]*|\b[eE]'(?:\\[^]|''|[^'\\])*(?:'|$)(?:[ \t]*[\r\n]\s*'(?:\\[^]|''|[^'\\])*')*|'[^']*(?:'|$)|"[^"]*(?:"|$)|(\$(?:[A-Za-z_\u0080-\u{10ffff}][\w\u0080-\u{10ffff}]*)?\$)[^]*?(?:\1|$)|[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*|[^]/uy,
  SQLite:
    /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|[a-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*|[^]/iuy,
  // In MySQL a backslash escapes in text, two dashes begin a comment if a space follows, and it
  // runs comments that begin with `!`, MariaDB also those with `M!`.
  MySQL:
    /--(?=\s|$)[^\n]*|#[^\n]*|\/\*(?!M?!)[^]*?(?:\*\/|$)|'(?:\\[^]|[^'\\])*(?:'|$)|"(?:\\[^]|[^"\\])*(?:"|$)|`[^`]*(?:`|$)|[a-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*|[^]/iuy,
};
const COMMENT_OR_SPACE = /^(?:--|#|\/\*|\s)/;
/** How statements begin that can contain statements. */
const ROUTINE: Readonly<Record<ScriptBrand, RegExp>> = {
  PostgreSQL: /^create (?:or replace )?(?:function|procedure) /,
  SQLite: /^create (?:temp(?:orary)? )?trigger /,
  MySQL:
    /^create (?:or replace )?(?:definer = (?:(?!(?:sql|view) )\S+ )+?)?(?:aggregate )?(?:trigger|procedure|function|event) /,
};
/** How many tokens `ROUTINE` reads. */
const ROUTINE_TOKENS = 30;
/** Blocks of MySQL that `end` closes besides `begin` and `case`, which are not counted. */
const OTHER_BLOCKS: readonly string[] = ["if", "loop", "repeat", "while"];

/** Splits a script at the semicolons that end its statements; omits comments and space. */
export function splitScript(script: string, brand: ScriptBrand): readonly string[] {
  return statementsOf(script, brand).map(({ text }) => text);
}

/**
 * Refuses a script that would end the transaction that it is run in, and with it the lock of the
 * schema. MySQL needs no check: its statements on tables commit by themselves.
 *
 * @throws {TypeError} naming the statement
 */
export function refuseTransactions(script: string, brand: ScriptBrand): void {
  if (brand === "MySQL") return;
  for (const { tokens } of statementsOf(script, brand)) {
    const [, found] = CONTROL.exec(tokens.join(" ")) ?? [];
    if (found === undefined) continue;
    throw new TypeError(
      `Cannot run script: it runs in a transaction, which its statement ${found} would begin or ` +
        'end; to have none, begin the script with "-- no transaction"',
    );
  }
}

const QUOTED_BACKSLASH = /^['"][^]*\\/;

/**
 * Refuses a script of MySQL that sets NO_BACKSLASH_ESCAPES if the end of a text depends on it.
 *
 * @throws {TypeError} naming the mode
 */
export function refuseBackslashes(script: string): void {
  const tokens = statementsOf(script, "MySQL").flatMap(({ tokens }) => tokens);
  const setsMode = tokens.some((token) => token.includes("no_backslash_escapes"));
  if (!setsMode || !tokens.some((token) => QUOTED_BACKSLASH.test(token))) return;
  throw new TypeError(
    "Cannot run script: it sets NO_BACKSLASH_ESCAPES and has text with a backslash; write two " +
      "backslashes for each, without the mode",
  );
}

/** A statement of a script. */
export interface ScriptStatement {
  /** The statement, without its semicolon. */
  readonly text: string;
  /** Its tokens in lower case, without comments and space. */
  readonly tokens: readonly string[];
}

/** Returns the statements of a script with their tokens. */
export function statementsOf(script: string, brand: ScriptBrand): readonly ScriptStatement[] {
  const statements: ScriptStatement[] = [];
  let text = "";
  let tokens: string[] = [];
  let outer: string[] = [];
  let depth = 0;
  for (const token of [...tokensOf(script, brand), ";"]) {
    // A rule of PostgreSQL has statements in parentheses.
    if (token === ";" && depth <= 0 && isWhole(outer, brand)) {
      if (tokens.length > 0) statements.push({ text: text.trim(), tokens });
      text = "";
      tokens = [];
      outer = [];
      depth = 0;
      continue;
    }
    text += token;
    if (COMMENT_OR_SPACE.test(token)) continue;
    if (token === ")") depth -= 1;
    tokens.push(token.toLowerCase());
    if (depth <= 0) outer.push(token.toLowerCase());
    if (token === "(") depth += 1;
  }
  // The database rejects a body without an end.
  return tokens.length > 0 ? [...statements, { text: text.trim(), tokens }] : statements;
}

function* tokensOf(script: string, brand: ScriptBrand): Generator<string> {
  const pattern = new RegExp(TOKENS[brand]); // its own place in the script
  for (let at = 0; at < script.length;) {
    pattern.lastIndex = at;
    const isNested = brand === "PostgreSQL" && script.startsWith("/*", at);
    const token = isNested ? nestedComment(script, at) : pattern.exec(script)![0];
    yield token;
    at += token.length;
  }
}

/** Returns the comment of PostgreSQL at a place, which can have others in it. */
function nestedComment(script: string, start: number): string {
  const ends = /\/\*|\*\//g;
  ends.lastIndex = start;
  let depth = 0;
  for (let end = ends.exec(script); end; end = ends.exec(script)) {
    depth += end[0] === "/*" ? 1 : -1;
    if (depth === 0) return script.slice(start, ends.lastIndex);
  }
  return script.slice(start);
}

/** Checks whether a statement is complete, by its tokens outside of parentheses. */
function isWhole(tokens: readonly string[], brand: ScriptBrand): boolean {
  const isRoutine = tokens[0] === "create" &&
    ROUTINE[brand].test(tokens.slice(0, ROUTINE_TOKENS).join(" "));
  if (!isRoutine) return true;
  if (brand === "MySQL") return areBlocksClosed(tokens);
  const hasBody = brand === "SQLite" ||
    tokens.some((token, place) => token === "atomic" && tokens[place - 1] === "begin");
  // Each statement of a body has a semicolon, so an `end` after anything else is not the last.
  return !hasBody || / (?:;|begin atomic) end$/.test(tokens.slice(-4).join(" "));
}

function areBlocksClosed(tokens: readonly string[]): boolean {
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const previous = tokens[index - 1];
    if (token === "begin" || (token === "case" && previous !== "end")) depth += 1;
    if (token === "end" && !OTHER_BLOCKS.includes(tokens[index + 1] ?? "")) depth -= 1;
  }
  return depth <= 0;
}
