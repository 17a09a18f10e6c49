/**
 * Builds the package for npm: the output of `deno pack` with joined modules, the command `fw`, and
 * other members of the manifest that `deno.json` does not have. Fails on warnings.
 *
 *     deno task pack fw.tgz
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { IN_PLACE_OF_LEFT_OUT, LEFT_OUT } from "./left_out.ts";
import { ROOT } from "../support/project.ts";
import { bundlePackages, withoutComments } from "./bundled.ts";
import { type EntryPoints, joinModules } from "./joined_modules.ts";

/** The script that npm links as `fw`, with a shebang. */
const BIN = "src/cli/mod.js";

/** The module in place of those that bundles for the edge leave out. */
const REPLACEMENT = "src/left_out.js";

/** The repository of the publishing workflow, for npm's provenance. */
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;

/**
 * The packages that who uses them installs: drivers of database servers, metrics, schedules,
 * webhooks, the relay of jobs to Redis, and those of `fw prove`.
 */
const OPTIONAL: readonly string[] = [
  "@hyperjump/json-schema",
  "bullmq",
  "croner",
  "fast-check",
  "ioredis",
  "ipaddr.js",
  "kysely-postgres-js",
  "mysql2",
  "postgres",
  "prom-client",
  "valibot",
];

/** The members of the manifest that `deno pack` does not write. */
const MANIFEST = {
  description:
    "A web framework on Web-standard Request and Response: modules, controllers and injected providers, without decorators",
  keywords: ["web", "framework", "server", "hono", "openapi", "oauth2", "deno", "node", "bun"],
  bin: { fw: `./${BIN}` },
  engines: { node: "^22.21.0 || >=24.9.0" }, // whose servers have `shouldUpgradeCallback`
  sideEffects: false,
  imports: Object.fromEntries(LEFT_OUT.map((name) => [`#${name}`, replaced(name)])),
  ...GITHUB_REPOSITORY && {
    repository: { type: "git", url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` },
  },
};

/**
 * The warning of `deno pack` about a module that the types of no entry point refer to, which
 * {@linkcode importedPackages} verifies.
 */
const NEEDS_NO_TYPES = /^Could not generate types for '.*'\. Types will not be included .*$/gm;

/** Builds the package and writes it to a file. */
export async function buildNpmPackage(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fw-npm-"));
  try {
    const pack = ["pack", "--allow-dirty", "--no-source-maps", "-o", join(folder, "packed.tgz")];
    const said = run(process.execPath, pack, ROOT).replaceAll(NEEDS_NO_TYPES, "");
    if (/\bwarning\b|\bcould not\b/i.test(said)) throw new Error(`Cannot pack: ${said}`);
    run("tar", ["xzf", "packed.tgz"], folder);
    const root = join(folder, "package");
    bundlePackages(root);
    const program = readFileSync(join(root, BIN), "utf8");
    writeFileSync(join(root, BIN), `#!/usr/bin/env node\n${program}`);
    writeFileSync(join(root, REPLACEMENT), IN_PLACE_OF_LEFT_OUT);
    finishModules(root);
    complete(root, await joinModules(root, { apart: BIN }));
    const [packed = ""] = run("npm", ["pack", "--silent"], root).trim().split("\n");
    renameSync(join(root, packed), resolve(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The target of a package that bundles leave out, by the condition of the importer. */
function replaced(name: string): Readonly<Record<string, string>> {
  const file = `./${REPLACEMENT}`;
  return { workerd: file, "edge-light": file, browser: file, default: name };
}

/**
 * Replaces the specifiers of dynamic imports by the names in the manifest's `imports`, and removes
 * comments: the types keep those of what is exported.
 */
function finishModules(root: string): void {
  const unseen = new Set(LEFT_OUT);
  for (const name of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
    const file = join(root, "src", name);
    if (!name.endsWith(".js") || file === join(root, BIN)) continue;
    const code = readFileSync(file, "utf8");
    const renamed = code.replaceAll(/\bimport\("([^"]+)"\)/g, (found, from) => {
      unseen.delete(from);
      return LEFT_OUT.includes(from) ? `import("#${from}")` : found;
    });
    writeFileSync(file, name.startsWith("bundled/") ? renamed : withoutComments(renamed));
  }
  if (unseen.size > 0) throw new Error(`Cannot pack: nothing loads ${[...unseen].join(" and ")}`);
}

/**
 * Completes the manifest with entry points and packages: `deno pack` leaves out those of which only
 * types are imported, and lists those that are bundled.
 */
function complete(root: string, exports: EntryPoints): void {
  const file = join(root, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  const { imports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
  const names = [...importedPackages(root)].sort();
  const versions = names.map((name) => [name, /@([^@]+)$/.exec(imports[name])![1]!] as const);
  const [optional = [], others = []] = [true, false].map((isOptional) =>
    versions.filter(([name]) => OPTIONAL.includes(name) === isOptional)
  );
  const members = {
    exports,
    dependencies: Object.fromEntries(others),
    peerDependencies: Object.fromEntries(optional),
    peerDependenciesMeta: Object.fromEntries(optional.map(([name]) => [name, { optional: true }])),
  };
  writeFileSync(file, JSON.stringify({ ...manifest, ...MANIFEST, ...members }, null, 2));
}

/**
 * Returns the packages that the modules of the package and their types import.
 *
 * @throws {Error} if types import a file that is not in the package
 */
function importedPackages(root: string): ReadonlySet<string> {
  const packages = new Set<string>();
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => /\.(d\.ts|js)$/.test(name) && name !== BIN)) {
    const code = readFileSync(join(root, file), "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
    for (
      const [, from = ""] of code.matchAll(
        /(?:\bfrom\s*|\bimport\s*\(?\s*)"([@#\w][\w@.:/-]*|\.[^"]+)"/g,
      )
    ) {
      const imported = join(root, dirname(file), from.replace(/\.js$/, ".d.ts"));
      if (from.startsWith("node:") || from.startsWith("cloudflare:")) continue;
      if (!from.startsWith(".")) packages.add(/^#?((?:@[^/]+\/)?[^/]+)/.exec(from)![1]!);
      else if (file.endsWith(".d.ts") && !existsSync(imported)) {
        throw new Error(`Cannot pack ${file}: ${from} has no types`);
      }
    }
  }
  return packages;
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (status !== 0) throw new Error(`Cannot run ${program} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout + (program === process.execPath ? stderr : "");
}

if (import.meta.main) await buildNpmPackage(process.argv[2] ?? "fw.tgz");
