/**
 * Fails if an exported symbol of the given entry points lacks a doc comment or an explicit type, or
 * refers to a type of the project that no entry point exports, or if an entry point does not begin with
 * a doc comment of its own with an example. Types of packages are theirs to export.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT, sourceFiles } from "../support/project.ts";

const entryPoints = process.argv.slice(2);
const { status, stdout, stderr } = spawnSync(process.execPath, ["doc", "--lint", ...entryPoints], {
  cwd: ROOT,
  encoding: "utf8",
  env: { ...process.env, NO_COLOR: "1" },
});
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const exported = entryPoints.map(read).join("\n");
const own = sourceFiles("src").map(read).join("\n");

const errors = (stdout + stderr).split(/^(?=error\[)/m).filter((text) => text.startsWith("error["));
const ours = errors.filter((text) => {
  const [, name] = /^error\[private-type-ref\].* private type '([\w$]+)/.exec(text) ?? [];
  if (name === undefined) return true;
  const isOurs = new RegExp(`^(?:export )?(?:abstract )?(?:class|interface|type) ${name}\\b`, "m")
    .test(own);
  return isOurs && !new RegExp(`\\b${name}\\b`).test(exported);
});
const unintroduced = entryPoints.filter((file) => {
  const [doc = ""] = /^\/\*\*[^]*?\*\//.exec(read(file)) ?? [];
  return !/^ \* ```ts$/m.test(doc) || !/^ \* @module$/m.test(doc);
});
ours.push(...unintroduced.map((file) => `${file}: no doc comment of the module, with an example`));
const isBroken = status !== 0 && errors.length === 0;
console.log(isBroken ? stderr : ours.join("\n"));
process.exit(isBroken || ours.length > 0 ? 1 : 0);
