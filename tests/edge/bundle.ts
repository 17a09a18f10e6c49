/**
 * Bundles the sources as tools for the edge do (`wrangler` uses the same bundler), with the conditions
 * of the npm package.
 *
 * @module
 */
import { build, type Metafile, type Plugin } from "esbuild";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { IN_PLACE_OF_LEFT_OUT, LEFT_OUT } from "../package/left_out.ts";
import { ROOT } from "../support/project.ts";

/** The most KiB of a bundle of the core with the verifier, minified and compressed. */
export const MOST_CORE_KIB = 49.6;

/** A module with the imports of an application that verifies the tokens of its callers. */
export const CORE_WITH_VERIFIER = `
  export { FwFactory, inject, module, route } from "./mod.ts";
  export { JwksCache, JwtVerifier, OAuth2Guard, ValidationConfig } from "./src/oauth2/mod.ts";
`;

/** Returns a module that exports all of another. */
export function sourceOf(file: string): string {
  return `export * from "${file}";\nimport * as all from "${file}";\nexport default all.default;`;
}

/** A bundle: one module. */
export interface Bundle {
  /** Its code, minified. */
  readonly code: string;
  /** Its size in bytes after gzip. */
  readonly gzipBytes: number;
  /** The number of its bytes from each file, by the path of the file. */
  readonly bytesOf: Readonly<Record<string, number>>;
}

/** Options of {@linkcode bundle}. */
export interface BundleOptions {
  /** Whether it contains dynamic imports; default true. */
  readonly lazyParts?: boolean;
  /**
   * Whether functions keep their names; default true, as documents and error messages contain those
   * of controllers and providers. Bundlers of web pages keep none by default.
   */
  readonly keepNames?: boolean;
  /**
   * The folder of an npm project with the installed package, from which imports are resolved; by
   * default the sources of this checkout.
   */
  readonly project?: string;
}

/** Bundles the text of a module. */
export async function bundle(
  text: string,
  { lazyParts = true, keepNames = true, project }: BundleOptions = {},
): Promise<Bundle> {
  const { outputFiles: [file], metafile } = await build({
    stdin: { contents: text, resolveDir: project ?? ROOT, loader: "ts" },
    absWorkingDir: project ?? ROOT,
    bundle: true,
    minify: true,
    keepNames,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "cloudflare:*"],
    plugins: [...lazyParts ? [] : [withoutLazyParts], ...project ? [] : [likeThePackage]],
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  if (!file) throw new Error("Cannot bundle: the output is missing");
  return {
    code: file.text,
    gzipBytes: gzipSync(file.contents, { level: 9 }).length,
    bytesOf: bytesOf(metafile),
  };
}

/** Applies the `imports` and `sideEffects` of `package.json` to the sources. */
const likeThePackage: Plugin = {
  name: "like the package",
  setup({ onResolve, onLoad }) {
    const namespace = "left out";
    onResolve(
      { filter: /^[^.]/ },
      ({ path, importer }) =>
        LEFT_OUT.includes(path) && importer.startsWith(join(ROOT, "src"))
          ? { path, namespace, sideEffects: false }
          : undefined,
    );
    onLoad({ filter: /./, namespace }, () => ({ contents: IN_PLACE_OF_LEFT_OUT }));
    onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    }));
  },
};

const withoutLazyParts: Plugin = {
  name: "without lazy parts",
  setup({ onResolve }) {
    onResolve(
      { filter: /./ },
      ({ path, kind }) => kind === "dynamic-import" ? { path, external: true } : undefined,
    );
  },
};

function bytesOf({ outputs }: Metafile): Record<string, number> {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return Object.fromEntries(
    inputs.map(([file, { bytesInOutput }]) => [file, bytesInOutput] as const)
      .filter(([, bytes]) => bytes > 0),
  );
}
