/**
 * Adding to a source file of a project: an import, and an item of a list. What cannot be added safely is
 * not.
 *
 * @module
 */
import { appending } from "./list.ts";
import {
  asList,
  type Call,
  callsOf,
  inserted,
  type Insertion,
  type List,
  type Node,
  parseModule,
  partsOf,
  propertyOf,
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
      return isPlain(options) && appending(source, options, `${list}: [${name}]`);
    }
    const names = asList(value);
    if (names === undefined || value.type !== "ArrayExpression") return undefined;
    return lists(source, names, name) ? [] : appending(source, names, name);
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
    return appending(source, models, `${accessor}: ${name}`);
  });
}

async function addImported(
  source: string,
  { name, from }: Addition,
  list: (program: Node) => readonly Insertion[] | false | undefined,
): Promise<string | undefined> {
  const program = await parseModule(source);
  const insertions = program && list(program);
  if (!program || !insertions) return undefined;
  if (insertions.length === 0) return source;
  if (declares(program, name)) return undefined;
  const text = inserted(source, [importing(source, program, { name, from }), ...insertions]);
  return await parseModule(text) && text;
}

/** Gives the object that the one call is given; nothing if there are several, or none. */
function onlyObject(calls: readonly Call[]): List | undefined {
  const [call, ...others] = calls;
  const options = call?.arguments[0];
  return others.length === 0 && options?.type === "ObjectExpression" ? asList(options) : undefined;
}

/** What is spread into an object may have the list already. */
function isPlain({ items }: List): boolean {
  return items.every((item) => item?.type === "ObjectProperty");
}

function lists(source: string, { items }: List, name: string): boolean {
  return items.some((item) => item && source.slice(item.start, item.end) === name);
}

/** Tells whether a name stands for something else at the top of a file. */
function declares(program: Node, name: string): boolean {
  return [...partsOf(program)].some((node) => {
    const { id, local } = node as { id?: Node & { name?: string }; local?: { name?: string } };
    return local?.name === name || (id?.type === "Identifier" && id.name === name);
  });
}

/** Imports behind the last import, in its quotes and with its end. */
function importing(source: string, program: Node, { name, from }: Addition): Insertion {
  const { body = [] } = program as { body?: readonly Node[] };
  const last = body.findLast(({ type }) => type === "ImportDeclaration");
  const sample = last ? source.slice(last.start, last.end) : `import "";`;
  const quote = sample.includes('"') ? '"' : "'";
  const statement = `import { ${name} } from ${quote}${from}${quote}${
    sample.endsWith(";") ? ";" : ""
  }`;
  const newline = source.includes("\r\n") ? "\r\n" : "\n";
  return last
    ? { at: last.end, text: `${newline}${statement}` }
    : { at: (body[0] ?? program).start, text: `${statement}${newline}${newline}` };
}
