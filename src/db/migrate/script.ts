/**
 * Scripts of SQL.
 *
 * @module
 */

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
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Comments, quoted text, words, and other characters one by one. */
const TOKENS: Readonly<Record<ScriptBrand, RegExp>> = {
  // In PostgreSQL a backslash escapes in E'', and $$ quotes.
  PostgreSQL:
    /--.*|\/\*[^]*?(?:\*\/|$)|\be'(?:\\[^]|[^'\\])*'|'[^']*'|"[^"]*"|(\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$)[^]*?\1|[\p{L}_][\p{L}\p{N}_$]*|[^]/giu,
  SQLite:
    /--.*|\/\*[^]*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|[\p{L}_][\p{L}\p{N}_$]*|[^]/gu,
  // In MySQL a backslash escapes in text, two dashes begin a comment if a space follows, and it
  // runs comments that begin with `!`, MariaDB also those with `M!`.
  MySQL:
    /--(?=\s|$).*|#.*|\/\*(?!M?!)[^]*?(?:\*\/|$)|'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"|`[^`]*`|[\p{L}_][\p{L}\p{N}_$]*|[^]/gu,
};
const COMMENT_OR_SPACE = /^(?:--|#|\/\*(?!M?!)|\s)/;
/** Statements that contain statements. */
const ROUTINE = /^create(?: \S+)*? (?:trigger|procedure|function|event) /;
/** Blocks that `end` closes besides `begin` and `case`, which are not counted. */
const OTHER_BLOCKS: readonly string[] = ["if", "loop", "repeat", "while"];

/** Splits a script at the semicolons that end its statements; omits comments and space. */
export function splitScript(script: string, brand: ScriptBrand): readonly string[] {
  const statements: string[] = [];
  let text = "";
  let tokens: string[] = [];
  for (const [token] of [...script.matchAll(TOKENS[brand]), [";"] as const]) {
    if (token === ";" && isWhole(tokens)) {
      if (tokens.length > 0) statements.push(text.trim());
      text = "";
      tokens = [];
      continue;
    }
    text += token;
    if (!COMMENT_OR_SPACE.test(token)) tokens.push(token.toLowerCase());
  }
  // The database rejects a body without an end.
  return tokens.length > 0 ? [...statements, text.trim()] : statements;
}

/** Statements that begin or end a transaction; ROLLBACK TO only returns to a savepoint. */
const TRANSACTION =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;
const COMMENTS = /^(?:\s|--.*|\/\*[^]*?\*\/)+/;

/**
 * Refuses a script that would end the transaction that it is run in, and with it the lock of the
 * schema. MySQL needs no check: its statements on tables commit by themselves.
 *
 * @throws {TypeError} naming the statement
 */
export function refuseTransactions(script: string, brand: ScriptBrand): void {
  if (brand === "MySQL") return;
  const statements = splitScript(script, brand).map((text) => text.replace(COMMENTS, ""));
  // a column of this name in the body of a trigger looks like the end of the body
  const hasRoutine = statements.some((text) => /^create\b[^]*\bbegin\b/i.test(text));
  for (const statement of statements) {
    const [found] = TRANSACTION.exec(statement) ?? [];
    if (found === undefined || (hasRoutine && /^end$/i.test(found))) continue;
    throw new TypeError(
      `Cannot run script: it runs in a transaction, which its statement ${found} would begin or ` +
        'end; to have none, begin the script with "-- no transaction"',
    );
  }
}

function isWhole(tokens: readonly string[]): boolean {
  if (tokens[0] !== "create" || !ROUTINE.test(tokens.join(" "))) return true;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const previous = tokens[index - 1];
    if (token === "begin" || (token === "case" && previous !== "end")) depth += 1;
    if (token === "end" && !OTHER_BLOCKS.includes(tokens[index + 1] ?? "")) depth -= 1;
  }
  return depth <= 0;
}
