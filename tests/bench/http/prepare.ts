/** Installs the peers and the packed framework, and compiles the decorators of NestJS. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildNpmPackage } from "../../package/npm_package.ts";

const HERE = import.meta.dirname!;

/** Prepares the folder of the bench; installs the peers once, the framework each time. */
export async function prepare(): Promise<void> {
  if (!existsSync(join(HERE, "node_modules/elysia"))) npm("ci");
  const file = join(tmpdir(), `fw-${crypto.randomUUID()}.tgz`);
  try {
    await buildNpmPackage(file);
    npm("install", "--no-save", file);
  } finally {
    rmSync(file, { force: true });
  }
  compileNest();
}

function npm(...args: readonly string[]): void {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", [...args, ...quiet], { cwd: HERE, stdio: "inherit" });
}

/** The runtimes remove types, not decorators, whose metadata NestJS reads. */
function compileNest(): void {
  const ts = createRequire(join(HERE, "package.json"))("typescript");
  const { outputText } = ts.transpileModule(readFileSync(join(HERE, "peers/nest.ts"), "utf8"), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  mkdirSync(join(HERE, ".built"), { recursive: true });
  writeFileSync(join(HERE, ".built/nest.js"), outputText);
}
