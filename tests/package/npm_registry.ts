/**
 * An npm registry on the loopback interface with the only package of a scope: an `.npmrc` takes that
 * scope from it, and all other packages from the default registry.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Loopback, serveOnLoopback } from "./loopback.ts";

/** Serves a package file as its only release. */
export async function serveNpmRegistry(tarball: string): Promise<Loopback> {
  const content = readFileSync(tarball);
  const manifest = JSON.parse(
    execFileSync("tar", ["xzOf", tarball, "package/package.json"], { encoding: "utf8" }),
  );
  const { name, version } = manifest;
  const file = `/${name}/-/fw-${version}.tgz`;
  const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
  return await serveOnLoopback(({ path, origin }) => {
    if (path === file) return content;
    if (path !== `/${name}`) return undefined;
    return JSON.stringify({
      name,
      "dist-tags": { latest: version },
      time: { [version]: "2026-01-01T00:00:00.000Z" },
      versions: { [version]: { ...manifest, dist: { tarball: origin + file, integrity } } },
    });
  });
}
