/**
 * The modules of the npm package that contain packages which nothing else needs, so that nobody
 * installs them: the command line, and the conversion and writing of OpenAPI documents.
 *
 * @module
 */
import type { BuildOptions } from "esbuild";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { ROOT } from "../support/project.ts";

process.env["ESBUILD_WORKER_THREADS"] = "0"; // else a message port stays open
const { buildSync, transformSync } = await import("esbuild");

/** The folder of the command line, of which one module and its types remain. */
const CLI = "src/cli";

/** The folder of the other packages, each a file that exports what the framework imports. */
const FOLDER = "src/bundled";
const EXPORTS: Readonly<Record<string, { readonly file: string; readonly names: string }>> = {
  "@valibot/to-json-schema": { file: "valibot_json_schema.js", names: "toJsonSchemaDefs" },
  yaml: { file: "yaml.js", names: "stringify" },
};

/** The terms of the MIT license, of a package that only names it. */
const MIT = readFileSync(join(ROOT, "LICENSE"), "utf8").replace(/^[^]*?(?=Permission is)/, "");

/** Bundles packages into the files of the package in a folder, with their licenses. */
export function bundlePackages(root: string): void {
  for (const name of readdirSync(join(root, CLI))) {
    if (!name.endsWith(".d.ts")) rmSync(join(root, CLI, name), { recursive: true });
  }
  const inputs = [
    ...bundle({ entryPoints: [`${CLI}/mod.ts`], outfile: join(root, CLI, "mod.js") }),
    ...Object.entries(EXPORTS).flatMap(([name, { file, names }]) => {
      const contents = `export { ${names} } from "${name}";`;
      const outfile = join(root, FOLDER, file);
      return bundle({ stdin: { contents, resolveDir: ROOT }, outfile, platform: "neutral" });
    }),
  ];
  importBundled(root);
  writeFileSync(join(root, "THIRD_PARTY_LICENSES.md"), licensesOf(inputs));
}

/** Writes a bundle; returns the files in it, from the root of the checkout. */
function bundle(options: BuildOptions): readonly string[] {
  const { metafile } = buildSync({
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    legalComments: "none", // the licenses are in a file of their own
    absWorkingDir: ROOT,
    minifyWhitespace: true,
    metafile: true,
    ...options,
  });
  return Object.keys(metafile!.inputs); // as it is asked for
}

/** Returns a module without its comments: those of public names are in its types. */
export function withoutComments(code: string): string {
  return transformSync(code, { legalComments: "none", target: "node22" }).code;
}

/** Replaces the specifiers of the bundled packages. */
function importBundled(root: string): void {
  const unseen = new Set(Object.keys(EXPORTS));
  for (const name of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
    const path = join("src", name);
    if (!name.endsWith(".js") || [CLI, FOLDER].includes(dirname(path))) continue;
    const code = readFileSync(join(root, path), "utf8");
    const changed = code.replaceAll(/(\bfrom |\bimport\()"([^"]+)"/g, (found, before, from) => {
      const file = EXPORTS[from]?.file;
      unseen.delete(from);
      return file ? `${before}"${relative(dirname(path), join(FOLDER, file))}"` : found;
    });
    if (changed !== code) writeFileSync(join(root, path), changed);
  }
  if (unseen.size > 0) throw new Error(`Cannot pack: nothing imports ${[...unseen].join(", ")}`);
}

/** Returns the licenses of the packages that files are from. */
function licensesOf(files: readonly string[]): string {
  const folders = new Set(files.flatMap((file) => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
    return folder ?? [];
  }));
  const texts = [...folders].map((folder) => {
    const read = (name: string) => readFileSync(join(ROOT, folder, name), "utf8");
    const { name, version, license, author } = JSON.parse(read("package.json"));
    const file = ["LICENSE", "LICENSE.md"].find((each) => existsSync(join(ROOT, folder, each)));
    if (!file && license !== "MIT") throw new Error(`Cannot pack ${name}: it has no license`);
    const text = file ? read(file) : `Copyright (c) ${author.name}\n\n${MIT}`;
    return `## ${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return `# Licenses of the bundled packages\n\n${texts.toSorted().join("\n")}`;
}
