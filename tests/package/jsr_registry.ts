/**
 * A registry in the layout of jsr.io on the loopback interface: it accepts the package from
 * `deno publish` and serves it to processes whose `JSR_URL` is its address.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type Outcome, run } from "../../src/cli/system/programs.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { ROOT } from "../support/project.ts";
import { type Loopback, type LoopbackRequest, serveOnLoopback } from "./loopback.ts";

const CONFIG: { readonly name: string; readonly version: string; readonly exports: unknown } = JSON
  .parse(readFileSync(join(ROOT, "deno.json"), "utf8"));

/** The content of `meta.json`. */
const PACKAGE = {
  scope: "fw",
  name: "fw",
  latest: CONFIG.version,
  versions: { [CONFIG.version]: { createdAt: "2026-01-01T00:00:00.000Z" } },
};

/** A registry with this checkout as its only release; disposing it stops it. */
export class JsrRegistry implements AsyncDisposable {
  /** The result of `deno publish`. */
  readonly published: Outcome;
  readonly #server: Loopback;

  private constructor(server: Loopback, published: Outcome) {
    this.#server = server;
    this.published = published;
  }

  /** Serves the files that are published from this checkout. */
  static async serve(): Promise<JsrRegistry> {
    const files = new Map<string, Uint8Array>();
    const server = await serveOnLoopback(({ method, path, body }: LoopbackRequest) => {
      const api = "/api/scopes/fw/packages/fw";
      if (method === "POST" && path === `${api}/versions/${CONFIG.version}`) {
        for (const [file, content] of unpacked(body)) files.set(`/${file}`, content);
        return JSON.stringify({ id: "1", status: "success", error: null });
      }
      if (path === api) return JSON.stringify({ scope: "fw", name: "fw" });
      if (path === `/${CONFIG.name}/meta.json`) return JSON.stringify(PACKAGE);
      if (path === `/${CONFIG.name}/${CONFIG.version}_meta.json` && files.size > 0) {
        return JSON.stringify({ exports: CONFIG.exports, manifest: manifestOf(files) });
      }
      return files.get(path.slice(`/${CONFIG.name}/${CONFIG.version}`.length));
    });
    const words = ["publish", "--token", "none", "--no-provenance", "--allow-dirty", "--no-check"];
    const env = { ...process.env, NO_COLOR: "1", JSR_URL: server.origin };
    const published = await run([process.execPath, ...words], { cwd: ROOT, env });
    return new JsrRegistry(server, published);
  }

  /** The variables of a process that uses it, with an empty cache of Deno. */
  env(cwd: string): Readonly<Record<string, string>> {
    return { JSR_URL: this.#server.origin, DENO_DIR: join(cwd, ".cache") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** The sizes and checksums of files, which Deno verifies. */
function manifestOf(files: ReadonlyMap<string, Uint8Array>): Record<string, unknown> {
  return Object.fromEntries(
    [...files].map(([path, content]) => [path, {
      size: content.length,
      checksum: `sha256-${createHash("sha256").update(content).digest("hex")}`,
    }]),
  );
}

function unpacked(tarball: Uint8Array): readonly (readonly [path: string, Uint8Array])[] {
  using folder = new TemporaryFolder();
  writeFileSync(join(folder.path, "package.tgz"), tarball);
  const files = join(folder.path, "files");
  mkdirSync(files);
  execFileSync("tar", ["xzf", "../package.tgz"], { cwd: files });
  const entries = readdirSync(files, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(files.length + 1), readFileSync(path)] as const;
  });
}
