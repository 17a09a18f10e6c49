/**
 * The version of the project that runs, by its configuration file.
 *
 * @module
 */

/** The files that can have the version of a project, of which the first that has one decides. */
const FILES = ["deno.json", "deno.jsonc", "package.json"];

/** Options of {@linkcode projectVersion}. */
export interface ProjectVersionOptions {
  /**
   * The path of the main module; default that of the process. Where it is empty, and for a tool in
   * `node_modules`, the search starts in the working directory.
   */
  readonly main?: string;
}

/**
 * Returns the `version` of the nearest folder with a `deno.json`, `deno.jsonc` or `package.json`,
 * from the folder of the main module upwards. Returns `undefined` if none is found, or the
 * process cannot read it: on Deno without `--allow-read` for the file, as it never prompts, and
 * on edge runtimes.
 */
export async function projectVersion(
  { main = globalThis.process?.argv?.[1] ?? "" }: ProjectVersionOptions = {},
): Promise<string | undefined> {
  try {
    if (/^https?:/.test(main)) return undefined; // its project is not here
    const { dirname, join, resolve } = await import("node:path"); // bundles for the edge lack it
    const isOfProject = main !== "" && !/[\\/]node_modules[\\/]/.test(main);
    let folder = isOfProject ? dirname(resolve(main)) : resolve();
    for (;;) {
      const texts = await Promise.all(FILES.map((name) => readIfGranted(join(folder, name))));
      const found = texts.filter((text) => text !== undefined);
      if (found.length > 0) return found.map(versionIn).find((version) => version !== undefined);
      const parent = dirname(folder);
      if (parent === folder) return undefined;
      folder = parent;
    }
  } catch {
    return undefined; // there is no file system
  }
}

/** Reads a file; returns `undefined` if it is missing, or reading it would need a permission. */
async function readIfGranted(path: string): Promise<string | undefined> {
  if ("Deno" in globalThis) {
    const { state } = await Deno.permissions.query({ name: "read", path });
    if (state !== "granted") return undefined;
  }
  const { readFile } = await import("node:fs/promises");
  return await readFile(path, "utf8").catch(() => undefined);
}

function versionIn(text: string): string | undefined {
  try {
    const { version } = JSON.parse(withoutComments(text));
    return typeof version === "string" && version !== "" ? version : undefined;
  } catch {
    return undefined;
  }
}

/** Removes comments and trailing commas from JSON. */
function withoutComments(text: string): string {
  const string = /("(?:\\.|[^"\\])*")/.source;
  return text
    .replace(new RegExp(`${string}|//[^\\n]*|/\\*[^]*?\\*/`, "g"), "$1")
    .replace(new RegExp(`${string}|,(?=\\s*[}\\]])`, "g"), "$1");
}
