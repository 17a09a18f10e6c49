/**
 * Statements of PostgreSQL that change their session.
 *
 * @module
 */
import { statementsOf } from "./script.ts";

const SETS = "(?:set|reset) (?!local |transaction |constraints )";
const TEMPORARY = "(?:local |global )?temp(?:orary)? ";
/** A statement, as its tokens with a space after each. */
const STATEMENT = new RegExp(
  `^(?:${SETS}|(?:discard|load|listen|unlisten|deallocate|declare) |prepare (?!transaction )|` +
    `create (?:or replace )?${TEMPORARY}|(?:select|with) (?:[^]* )?into ${TEMPORARY})`,
);
/** One in the body of a block, or in a string that is run there. */
const IN_BLOCK = new RegExp(`^do (?:[^]*(?:\\b(?:begin|then|else|loop)|[;'$])\\s*)${SETS}`);
/** Functions, and a schema, that belong to the session. */
const NAME = /\b(?:set_config|pg_(?:try_)?advisory_lock(?:_shared)?|pg_temp)\b/;

/**
 * Refuses a script whose settings a pooler may lose, and leave to another client.
 *
 * @throws {TypeError} naming the migration and the statement
 */
export function refuseSessionStatements(name: string, script: string): void {
  const found = sessionStatementIn(script);
  if (found === undefined) return;
  throw new TypeError(
    `Cannot migrate: ${name} contains "${found}" outside a transaction, where a pooler may run ` +
      "each statement in another session; remove it, or migrate by the URL of the server itself",
  );
}

/**
 * Returns the first words of a statement that changes its session, or leaves something in it. What
 * the functions do that it calls is not seen.
 */
export function sessionStatementIn(script: string): string | undefined {
  for (const { tokens } of statementsOf(script, "PostgreSQL")) {
    const text = `${tokens.join(" ")} `;
    const [name] = NAME.exec(text) ?? [];
    if (name !== undefined) return name;
    if (IN_BLOCK.test(text)) return "do";
    if (STATEMENT.test(text)) return tokens.slice(0, 2).join(" ");
  }
  return undefined;
}
