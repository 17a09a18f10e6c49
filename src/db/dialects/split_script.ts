/**
 * The statements of a script, for drivers that run one at a time.
 *
 * @module
 */

/** Whose SQL a script is. */
export type ScriptBrand = "SQLite" | "MySQL";

/** Comments, what is quoted, words, and whatever else, character by character. */
const TOKENS: Readonly<Record<ScriptBrand, RegExp>> = {
  SQLite:
    /--.*|\/\*[^]*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|[\p{L}_][\p{L}\p{N}_$]*|[^]/gu,
  // Here a backslash escapes in text, and two dashes are a comment if a space follows.
  MySQL:
    /--(?=\s|$).*|#.*|\/\*(?!!)[^]*?(?:\*\/|$)|'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"|`[^`]*`|[\p{L}_][\p{L}\p{N}_$]*|[^]/gu,
};
const NOTHING = /^(?:--|#|\/\*(?!!)|\s)/;
/** What has statements inside. */
const ROUTINE = /^create(?: \S+)*? (?:trigger|procedure|function|event) /;
/** What `end` closes besides `begin` and `case`; none of them is counted. */
const OTHER_BLOCKS: readonly string[] = ["if", "loop", "repeat", "while"];

/** Splits a script at the semicolons that end its statements; leaves out what does nothing. */
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
    if (!NOTHING.test(token)) tokens.push(token.toLowerCase());
  }
  // A body that never ends is the database's to refuse.
  return tokens.length > 0 ? [...statements, text.trim()] : statements;
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
