/**
 * Changes of generated classes, whose other code may have been changed by hand.
 *
 * @module
 */
import type { ImportDeclaration, Node, Program } from "@babel/types";
import { importName } from "./imports.ts";
import { nameOf, parseModule, replaceAll, type Replacement, type Span, spanOf } from "./syntax.ts";

/** Two versions of the generated code of a file. */
export interface GeneratedChange {
  /** The generated code before the change. */
  readonly before: string;
  /** The generated code after it. */
  readonly after: string;
}

/** A part of a source file. */
interface Part extends Span {
  readonly text: string;
  /** The text with the comments before it. */
  readonly commented: string;
}

/** The parts of a source file, by name. */
interface Parts {
  readonly program: Program;
  readonly imports: ReadonlyMap<string, Part & { readonly names: readonly string[] }>;
  readonly members: ReadonlyMap<string, Part>;
}

/**
 * Applies the difference between two versions of a generated class to its file, other code of which
 * may have been changed by hand. Returns the new text, the same if there is nothing to change, or
 * `undefined` if code to change was changed by hand.
 */
export async function updateGeneratedClass(
  source: string,
  { before, after }: GeneratedChange,
): Promise<string | undefined> {
  const [own, old, next] = await Promise.all([source, before, after].map(partsOf));
  if (!own || !old || !next) return undefined;
  const last = [...own.members.values()].at(-1);
  if (last === undefined) return undefined;
  const changes: Replacement[] = [];
  for (const [name, { text, commented }] of next.members) {
    const previous = old.members.get(name);
    const current = own.members.get(name);
    if (text === previous?.text || text === current?.text) continue;
    if (current?.text !== previous?.text) return undefined;
    changes.push(
      current
        ? { start: current.start, end: current.end, text }
        : { start: last.end, end: last.end, text: `\n\n  ${commented}` },
    );
  }
  if (changes.length === 0) return source;
  const imports = importChanges(source, { own, old, next });
  const text = imports && replaceAll(source, [...imports, ...changes]);
  return text !== undefined && await parseModule(text) ? text : undefined;
}

/** Returns the changes that import what the new code needs. */
function importChanges(
  source: string,
  { own, old, next }: { readonly own: Parts; readonly old: Parts; readonly next: Parts },
): readonly Replacement[] | undefined {
  const changes: Replacement[] = [];
  for (const [from, { text, names }] of next.imports) {
    const previous = old.imports.get(from);
    const current = own.imports.get(from);
    if (current !== undefined && current.text === previous?.text) {
      if (text !== current.text) changes.push({ start: current.start, end: current.end, text });
      continue;
    }
    for (const name of names.filter((name) => !previous?.names.includes(name))) {
      const added = importName(source, { program: own.program, name, from });
      if (added === undefined) return undefined;
      changes.push(...added.map(({ at, text }) => ({ start: at, end: at, text })));
    }
  }
  return changes;
}

/** Returns the imports of a file, and the members of the class that it exports. */
async function partsOf(source: string): Promise<Parts | undefined> {
  const program = await parseModule(source);
  if (program === undefined) return undefined;
  const part = (node: Node): Part => {
    const { start, end } = spanOf(node);
    const [comment = node] = node.leadingComments ?? [];
    return {
      start,
      end,
      text: source.slice(start, end),
      commented: source.slice(comment.start ?? start, end),
    };
  };
  const members = program.body.flatMap((statement) =>
    statement.type === "ExportNamedDeclaration" &&
      statement.declaration?.type === "ClassDeclaration"
      ? statement.declaration.body.body
      : []
  );
  const imports = program.body.filter((statement) => statement.type === "ImportDeclaration");
  return {
    program,
    imports: new Map(
      imports.map((it) => [it.source.value, { ...part(it), names: namesIn(it) }]),
    ),
    members: new Map(
      members.flatMap((member) =>
        "key" in member ? [[nameOf(member.key) ?? "", part(member)]] : []
      ),
    ),
  };
}

function namesIn({ specifiers }: ImportDeclaration): readonly string[] {
  return specifiers.map(({ local }) => local.name);
}
