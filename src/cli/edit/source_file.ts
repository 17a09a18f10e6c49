/**
 * Adding to a source file of a project: an import, and an item of a list. What cannot be added safely is
 * not.
 *
 * @module
 */
import type { CallExpression, ObjectExpression, Program } from "@babel/types";
import { appendItem } from "./list.ts";
import {
  callsOf,
  insertAll,
  type Insertion,
  nameOf,
  parseModule,
  propertyOf,
  spanOf,
} from "./syntax.ts";

/** What is added to a file. */
export interface Addition {
  /** The name that is imported and listed. */
  readonly name: string;
  /** Where it is imported from: `./cats/cats_module.ts`. */
  readonly from: string;
}

/** The lists of a module that can be added to. */
export type ModuleList = "imports" | "providers" | "controllers";

/**
 * Lists something in the one `module({ … })` of a file. Gives the new text; the same one if it is
 * listed already; nothing if the file is not understood well enough.
 */
export function addToModule(
  source: string,
  { name, from, list }: Addition & { readonly list: ModuleList },
): Promise<string | undefined> {
  return addImported(source, { name, from }, (program) => {
    const options = onlyObject(callsOf(program, "module"));
    if (options === undefined) return undefined;
    const value = propertyOf(options, list);
    if (value === undefined) {
      return isPlain(options) && appendItem(options, { source, item: `${list}: [${name}]` });
    }
    if (value.type !== "ArrayExpression") return undefined;
    const isListed = value.elements.some((element) => element && nameOf(element) === name);
    return isListed ? [] : appendItem(value, { source, item: name });
  });
}

/** Lists a model in the one `DbService.with({ … })` of a file; gives what `addToModule` does. */
export function addToDatabase(
  source: string,
  { name, from, accessor }: Addition & { readonly accessor: string },
): Promise<string | undefined> {
  return addImported(source, { name, from }, (program) => {
    const models = onlyObject(callsOf(program, "DbService.with"));
    if (models === undefined) return undefined;
    if (propertyOf(models, accessor) !== undefined) return [];
    return appendItem(models, { source, item: `${accessor}: ${name}` });
  });
}

async function addImported(
  source: string,
  addition: Addition,
  list: (program: Program) => readonly Insertion[] | false | undefined,
): Promise<string | undefined> {
  const program = await parseModule(source);
  const insertions = program && list(program);
  if (!program || !insertions) return undefined;
  if (insertions.length === 0) return source;
  const imported = importInsertions(source, { program, ...addition });
  if (imported === undefined) return undefined;
  const text = insertAll(source, [...imported, ...insertions]);
  return await parseModule(text) && text;
}

/** Gives the object that the one call is given; nothing if there are several, or none. */
function onlyObject(calls: readonly CallExpression[]): ObjectExpression | undefined {
  const [call, ...others] = calls;
  const options = call?.arguments[0];
  return others.length === 0 && options?.type === "ObjectExpression" ? options : undefined;
}

/** What is spread into an object may have the list already. */
function isPlain({ properties }: ObjectExpression): boolean {
  return properties.every(({ type }) => type === "ObjectProperty");
}

/**
 * Imports behind the last import, in its quotes and with its end. Gives no insertion if the name is
 * imported from there already, and nothing if it stands for something else at the top of the file.
 */
function importInsertions(
  source: string,
  { program, name, from }: Addition & { readonly program: Program },
): readonly Insertion[] | undefined {
  const imports = program.body.filter((statement) => statement.type === "ImportDeclaration");
  const last = imports.at(-1);
  if (last === undefined) return undefined;
  const own = imports.find(({ specifiers }) => specifiers.some(({ local }) => local.name === name));
  if (own) return own.source.value === from ? [] : undefined;
  if (declaredNames(program).includes(name)) return undefined;
  const { start, end } = spanOf(last);
  const sample = source.slice(start, end);
  const quote = sample.includes('"') ? '"' : "'";
  const newline = source.includes("\r\n") ? "\r\n" : "\n";
  const semicolon = sample.endsWith(";") ? ";" : "";
  const statement = `import { ${name} } from ${quote}${from}${quote}${semicolon}`;
  return [{ at: end, text: `${newline}${statement}` }];
}

/** Lists what a module declares at its top, but by imports. */
function declaredNames({ body }: Program): readonly (string | undefined)[] {
  const declarations = body.map((statement) =>
    statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
  );
  return declarations.flatMap((declaration) => {
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
  });
}
