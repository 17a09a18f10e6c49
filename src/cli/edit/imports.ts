/**
 * The imports and exports of a source file.
 *
 * @module
 */
import type { Program, Statement } from "@babel/types";
import { type Insertion, nameOf, parseModule, spanOf } from "./syntax.ts";

/** Returns the specifier that a name is imported from, if it is. */
export function specifierOfName({ body }: Program, name: string): string | undefined {
  return body
    .filter((statement) => statement.type === "ImportDeclaration")
    .find(({ specifiers }) => specifiers.some(({ local }) => local.name === name))?.source.value;
}

/** Checks whether a file exports a name; `export *` may export any. */
export async function exportsName(source: string, name: string): Promise<boolean> {
  const program = await parseModule(source);
  return program?.body.some((statement) => {
    if (statement.type === "ExportAllDeclaration") return name !== "default";
    if (statement.type === "ExportDefaultDeclaration") return name === "default";
    if (statement.type !== "ExportNamedDeclaration") return false;
    const isListed = statement.specifiers.some(({ exported }) => nameOf(exported) === name);
    return isListed || namesOf(statement.declaration).includes(name);
  }) ?? false;
}

/**
 * Imports a name after the last import, in the same style. Returns no insertion if it is imported
 * from there already, and `undefined` if the file declares another such name.
 */
export function importName(
  source: string,
  { program, name, from }: {
    readonly program: Program;
    readonly name: string;
    readonly from: string;
  },
): readonly Insertion[] | undefined {
  const last = program.body.findLast(({ type }) => type === "ImportDeclaration");
  if (last === undefined) return undefined;
  const own = specifierOfName(program, name);
  if (own !== undefined) return own === from ? [] : undefined;
  const declared = program.body.flatMap((statement) =>
    namesOf(statement.type === "ExportNamedDeclaration" ? statement.declaration : statement)
  );
  if (declared.includes(name)) return undefined;
  const { start, end } = spanOf(last);
  const sample = source.slice(start, end);
  const quote = sample.includes('"') ? '"' : "'";
  const newline = source.includes("\r\n") ? "\r\n" : "\n";
  const semicolon = sample.endsWith(";") ? ";" : "";
  const statement = `import { ${name} } from ${quote}${from}${quote}${semicolon}`;
  // a comment after it keeps its place
  const [comment = ""] = /^[ \t]*(?:\/\/.*|\/\*.*?\*\/[ \t]*(?=\r?\n|$))/.exec(source.slice(end)) ??
    [];
  return [{ at: end + comment.length, text: `${newline}${statement}` }];
}

/** Lists the names that a statement declares. */
function namesOf(declaration: Statement | null | undefined): readonly (string | undefined)[] {
  switch (declaration?.type) {
    case "VariableDeclaration":
      return declaration.declarations.map(({ id }) => nameOf(id));
    case "ClassDeclaration":
    case "FunctionDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSInterfaceDeclaration":
    case "TSEnumDeclaration":
      return [declaration.id?.name];
    default:
      return [];
  }
}
