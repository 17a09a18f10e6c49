/** Installs the peers and the packed framework, and compiles the decorators of NestJS. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buildNpmPackage } from "../../package/npm_package.ts";

/** Options of {@linkcode prepare}. */
export interface PrepareOptions {
  /** Whether the peers over databases are prepared, too. */
  readonly withDatabases: boolean;
}

const HERE = import.meta.dirname!;

/** Everything is in npm: Prisma does not need the engine that it would fetch. */
const OFFLINE = { CHECKPOINT_DISABLE: "1", PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };

/**
 * Prepares the folder of the bench; installs the peers once, the framework each time. Those over
 * databases are the development dependencies, of 300 MB.
 */
export async function prepare({ withDatabases }: PrepareOptions): Promise<void> {
  const [hasPeers, hasStores] = ["elysia", "drizzle-orm"].map(isInstalled);
  const omitted = withDatabases || hasStores ? [] : ["--omit=dev"];
  if (!hasPeers || withDatabases && !hasStores) npm("ci", ...omitted);
  const file = join(tmpdir(), `fw-${crypto.randomUUID()}.tgz`);
  try {
    await buildNpmPackage(file);
    npm("install", "--no-save", ...omitted, file);
  } finally {
    rmSync(file, { force: true });
  }
  compileNest();
  if (withDatabases) generatePrisma();
}

function isInstalled(name: string): boolean {
  return existsSync(join(HERE, "node_modules", name));
}

function npm(...args: readonly string[]): void {
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
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

/** Prisma generates a client for each database. */
function generatePrisma(): void {
  const schema = readFileSync(join(HERE, "peers/users/schema.prisma"), "utf8");
  for (const [database, provider] of [["sqlite", "sqlite"], ["postgres", "postgresql"]] as const) {
    const folder = join(HERE, `.built/prisma_${database}`);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "schema.prisma");
    writeFileSync(file, schema.replace("PROVIDER", provider));
    const options = { cwd: HERE, env: { ...process.env, ...OFFLINE }, stdio: "pipe" } as const;
    execFileSync("npx", ["prisma", "generate", "--schema", file], options);
  }
}
