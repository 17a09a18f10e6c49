/**
 * Statements that act outside the database of their session.
 *
 * @module
 */
import { type ScriptBrand, statementsOf } from "../script.ts";

/** Which statements act outside. */
export interface OutsideOptions {
  /** The database. */
  readonly brand: ScriptBrand;
  /** The names of other databases that MySQL can reach, in lower case. */
  readonly others: ReadonlySet<string>;
}

/** Where a statement begins: in a script, or in the body of a routine. */
const START = String.raw`(?<=^|[;)] |(?:^| )(?:begin|then|else|do|loop|repeat|atomic|row) )`;

/** The statements, in the form that `patternOf` takes. */
const OUTSIDE: Readonly<Record<ScriptBrand, RegExp>> = {
  PostgreSQL: patternOf(
    "(?:create|alter|drop) (?:database|role|user(?! mapping)|group|tablespace|subscription|server)",
    "alter system",
    "(?:drop|reassign) owned",
    "comment on (?:database|role|tablespace|subscription)",
    // membership in a role, and permissions on what belongs to all databases
    "(?:grant|revoke)(?! [^;]* on )",
    "(?:grant|revoke)(?= [^;]* on (?:database|tablespace|parameter) )",
    "copy(?= [^;]* (?:(?:from|to) program|to '')(?: |$))",
  ),
  MySQL: patternOf(
    "use",
    "(?:create|alter|drop)(?: or replace)? (?:user|role|server|tablespace|instance)",
    "(?:create|drop)(?: or replace)? (?:database|schema)",
    // without a name, it is the current one
    "alter (?:database|schema)(?! (?:default )?(?:character|charset|collate) )",
    "rename user",
    "grant",
    "revoke",
    "set (?:password|default role)",
    String.raw`set (?:[^;]*, )?(?:@ @ )?(?:global|persist|persist_only) (?:\. )?\S+ (?:: )?=`,
    "(?:install|uninstall) (?:plugin|component|soname)",
    "change (?:master|replication)",
    "(?:start|stop) (?:slave|replica|group_replication)",
    "reset (?:master|slave|replica|binary|query|persist)",
    "purge",
    "flush (?:local |no_write_to_binlog )?(?:tables?|privileges|status|hosts|(?:[a-z]+ )?logs)",
    "kill",
    "select [^;]* into (?:outfile|dumpfile)",
  ),
  SQLite: patternOf(String.raw`attach(?= (?:database )?\S+ as )`, "vacuum(?= (?:[^;]* )?into )"),
};
/** The marks of comments that MySQL runs, between the tokens of their statements. */
const COMMENT_MARKS = /\/ \* (?:m )?! (?:\d )*|\* \/(?: |$)/g;
/** Statements whose strings may be run: of a routine, a block, or a variable to prepare. */
const DYNAMIC: Readonly<Record<ScriptBrand, RegExp>> = {
  PostgreSQL: /\bexecute (?!function|procedure)|\b(?:as|do|do language \S+) ''/,
  MySQL: /\b(?:prepare|execute)\b|\b(?:set|into) @ /,
  SQLite: /(?!)/, // nothing
};
/** What comes before the name of a table. */
const BEFORE_TABLE = /^(?:from|join|into|update|table|exists)$/;
const STRING = /^(?:e?'|\$)/;

/**
 * Returns the first words of a statement that acts outside the database that it runs in: on the
 * server, on another database, or on a file. Those in the bodies of routines count too, and those
 * in strings that a statement runs, or keeps to be run.
 */
export function outsideStatementIn(script: string, options: OutsideOptions): string | undefined {
  const { brand } = options;
  for (const { tokens } of statementsOf(script, brand)) {
    const text = textOf(tokens, brand);
    const [found] = OUTSIDE[brand].exec(text) ?? [];
    if (found !== undefined) return found.match(/[a-z]\w*/g)?.slice(0, 2).join(" ");
    const name = nameOfOther(tokens, options);
    if (name !== undefined) return name;
    if (!DYNAMIC[brand].test(text)) continue;
    for (const token of tokens.filter((it) => isString(it, brand))) {
      const inner = outsideStatementIn(contentOf(token), options);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}

/** Returns a pattern of statements, as `textOf` writes them. */
function patternOf(...statements: readonly string[]): RegExp {
  return new RegExp(`${START}(?:${statements.join("|")})(?= |$)`);
}

/** Joins tokens, without the content of those in quotes, which may be a secret. */
function textOf(tokens: readonly string[], brand: ScriptBrand): string {
  const text = tokens.map((token) =>
    token.length > 1 && STRING.test(token) ? "''" : /^["`[]./.test(token) ? '""' : token
  ).join(" ");
  return brand === "MySQL" ? text.replaceAll(COMMENT_MARKS, "") : text;
}

/** Returns a name of MySQL that begins with that of another database: `shop.people`. */
function nameOfOther(
  tokens: readonly string[],
  { brand, others }: OutsideOptions,
): string | undefined {
  if (brand !== "MySQL" || others.size === 0) return undefined;
  const names = tokens.map((token) => /^["`]./.test(token) ? contentOf(token) : token);
  const isTable = (place: number) => BEFORE_TABLE.test(tokens[place - 1] ?? "");
  const isBefore = (place: number) => tokens[place + 1] === ".";
  // A table or its alias can have the name of a database: `select shop.id from shops shop`.
  const isName = (place: number) =>
    isTable(place) || tokens[place - 1] === "as" || isTable(place - 1);
  const tables = new Set(names.filter((_, place) => isName(place) && !isBefore(place)));
  const found = names.findIndex((name, place) =>
    isBefore(place) && others.has(name) && !/^[.@]$/.test(tokens[place - 1] ?? "") &&
    (isTable(place) || !tables.has(name))
  );
  return found < 0 ? undefined : `${names[found]}.${names[found + 2] ?? ""}`;
}

function isString(token: string, brand: ScriptBrand): boolean {
  return token.length > 1 && (STRING.test(token) || (brand === "MySQL" && token.startsWith('"')));
}

/** Returns the text between the quotes of a token. */
function contentOf(token: string): string {
  const [quote = ""] = /^(?:\$[^$]*\$|e?'|["`])/.exec(token) ?? [];
  const end = quote.startsWith("$") ? quote : quote.slice(-1);
  const content = token.slice(quote.length, token.endsWith(end) ? -end.length : undefined);
  return quote.startsWith("$") ? content : content.replaceAll(end + end, end);
}
