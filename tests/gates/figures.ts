/**
 * Measures the surface of `src`: how many files it has, how many of them have a single importer,
 * how long the lists of parameters are, the words of its comments, and the size of its bundles.
 * Prints each figure beside what it was before the folders were laid out, and fails if one is
 * beyond its limit.
 *
 *     deno run -A tests/gates/figures.ts
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import ts from "typescript";
import { bundle, CORE_WITH_VERIFIER, MOST_CORE_KIB, sourceOf } from "../edge/bundle.ts";
import { importsOf, ROOT, sourceFiles } from "../support/project.ts";

interface Figure {
  readonly name: string;
  readonly value: number;
  /** What it was at first, measured in the same way. */
  readonly before: number;
  /** The largest value that passes. */
  readonly limit: number;
}

/** Words that stand for many others; plain English has one for each meaning (CONTRIBUTING, Glossary). */
const IDIOMS: Readonly<Record<string, RegExp>> = {
  gives: /\bgives?\b/gi,
  "is none": /\b(?:is|are) none\b/gi,
  told: /\b(?:tells?|told)\b/gi,
  says: /\b(?:says?|said)\b/gi,
  "so many": /\bso many\b/gi,
  mended: /\bmend(?:s|ed)?\b/gi,
  "what is": /\bwhat (?:is|are)\b/gi,
};

/** A line of a comment that `deno fmt` would wrap if it were code. */
const TOO_WIDE = /^(?=.{101})\s*(?:\/\*\*|\*|\/\/)/;

const files = [...sourceFiles("src"), "mod.ts"];
const texts = files.map((file) => readFileSync(join(ROOT, file), "utf8"));
const lines = sum(texts.map((text) => text.split("\n").length));
const importers = countImporters();
const single = files.filter((file) => importers.get(file) === 1).length;
const folders = [...Map.groupBy(files, dirname).values()].map(({ length }) => length);
const counts = texts.flatMap((text, i) => parameterCounts(files[i]!, text));
const comments = texts.flatMap(commentLines);
const idioms = Object.values(IDIOMS).map((word) => comments.join("\n").match(word)?.length ?? 0);

const FIGURES: readonly Figure[] = [
  {
    name: "files per 1000 lines",
    value: files.length / lines * 1000,
    before: 11.8,
    limit: 9,
  },
  {
    name: "% of files with a single importer",
    value: single / files.length * 100,
    before: 36.5,
    limit: 29.5, // each command of fw has a file
  },
  { name: "files in the largest folder", value: Math.max(...folders), before: 49, limit: 24 },
  {
    name: "% of functions with over 2 parameters",
    value: counts.filter((count) => count > 2).length / counts.length * 100,
    before: 9.9,
    limit: 5,
  },
  { name: "parameters of the longest list", value: Math.max(...counts), before: 5, limit: 3 },
  {
    name: `of "${Object.keys(IDIOMS).join('", "')}" per 1000 lines of comments`,
    value: sum(idioms) / comments.length * 1000,
    before: 188.3,
    limit: 2.2,
  },
  {
    name: "lines of comments over 100 columns",
    value: texts.flatMap((text) => text.split("\n")).filter((line) => TOO_WIDE.test(line)).length,
    before: 469,
    limit: 0,
  },
  ...await Promise.all([
    sizeOf("@fw/fw", { text: sourceOf("./mod.ts"), before: 36.5, limit: 47.5 }),
    sizeOf("the core and a verifier", {
      text: CORE_WITH_VERIFIER,
      before: 41.4,
      limit: MOST_CORE_KIB,
    }),
    sizeOf("@fw/fw/client", {
      text: `export * from "./src/client/mod.ts";`,
      keepNames: false,
      before: 2,
      limit: 2,
    }),
    sizeOf("@fw/fw/db", { text: sourceOf("./src/db/mod.ts"), before: 58, limit: 70 }),
    sizeOf("examples/edge.ts", {
      text: sourceOf("./examples/edge.ts"),
      before: 101.5,
      limit: 121.5,
    }),
  ]),
];

console.log(["figure".padEnd(44), "before", "now", "limit"].join("\t"));
let isWell = true;
for (const { name, value, before, limit } of FIGURES) {
  const isBeyond = value > limit;
  isWell &&= !isBeyond;
  const numbers = [before, value, limit].map((it) => String(Math.round(it * 10) / 10));
  console.log([name.padEnd(44), ...numbers, isBeyond ? "FAILED" : ""].join("\t"));
}
process.exit(isWell ? 0 : 1);

/** Measures what the start of a bundle loads: minified, and compressed by gzip. */
async function sizeOf(
  name: string,
  { text, keepNames = true, ...bounds }:
    & { readonly text: string; readonly keepNames?: boolean }
    & Pick<Figure, "before" | "limit">,
): Promise<Figure> {
  const { gzipBytes } = await bundle(text, { lazyParts: false, keepNames });
  return { name: `KiB of a bundle of ${name}`, value: gzipBytes / 1024, ...bounds };
}

function countImporters(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const file of files) {
    for (const target of new Set(importsOf(file).map(({ target }) => target))) {
      counts.set(target, (counts.get(target) ?? 0) + 1);
    }
  }
  return counts;
}

/** Counts the parameters of each function and method that has a name and a body. */
function parameterCounts(file: string, text: string): number[] {
  const counts: number[] = [];
  function visit(node: ts.Node): void {
    const isNamed = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) ||
      ts.isConstructorDeclaration(node);
    if (isNamed && node.body) counts.push(node.parameters.length);
    ts.forEachChild(node, visit);
  }
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return counts;
}

/** Lists the lines of a file's comments, without the examples in them. */
function commentLines(text: string): string[] {
  const prose: string[] = [];
  let isExample = false;
  for (const line of text.split("\n")) {
    const [, comment] = /^\s*(?:\/\*\*|\*|\/\/)(?:\s(.*)|$)/.exec(line) ?? [];
    if (comment === undefined) continue;
    if (comment.trimStart().startsWith("```")) isExample = !isExample;
    else if (!isExample) prose.push(comment);
  }
  return prose;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
