/**
 * The module that lists what is generated: the nearest one.
 *
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { formatted } from "../deno.ts";
import { addToModule, type ModuleList } from "../edit/source_file.ts";
import type { FilePlan } from "../file_plan.ts";
import { APP_FILE, type Project } from "../project.ts";
import { specifierOf } from "./target.ts";

/** What is to be listed in a module. */
export interface Listing {
  /** The list: `imports`, `providers` or `controllers`. */
  readonly list: ModuleList;
  /** The name that its file exports. */
  readonly name: string;
  /** The file. */
  readonly file: string;
  /** The folder whose module lists it; that of the file unless it is another. */
  readonly folder?: string;
}

/** Plans to list something in the nearest module; where that is not safe, tells the user to. */
export async function listInModule(
  plan: FilePlan,
  project: Project,
  { list, name, file, folder = posix.dirname(file) }: Listing,
): Promise<void> {
  const path = findModule(project, folder, file);
  const byHand = `Add ${name} to the ${list} of ${path ?? "the module that is to have it"}`;
  if (path === undefined) return plan.note(`${byHand}: no module was found`);
  const addition = { list, name, from: specifierOf(path, file) };
  const edited = await edit(plan, project, path, (source) => addToModule(source, addition));
  if (!edited) plan.note(`${byHand}: it was left alone, as it is not written as expected`);
}

/**
 * Plans to change a file of the project, which stays formatted if it was. Tells whether the change is
 * safe; nothing is planned if it is not.
 */
export async function edit(
  plan: FilePlan,
  { root }: Project,
  path: string,
  change: (source: string) => Promise<string | undefined>,
): Promise<boolean> {
  const source = plan.read(path);
  const text = source === undefined ? undefined : await change(source);
  if (source === undefined || text === undefined) return false;
  if (text === source) return true;
  const wasFormatted = await formatted(path, source, root) === source;
  plan.update(path, wasFormatted ? await formatted(path, text, root) : text);
  return true;
}

/** Finds the module of a folder, in it or above it. */
function findModule({ root }: Project, folder: string, file: string): string | undefined {
  for (let at = folder;; at = posix.dirname(at)) {
    const names = existsSync(join(root, at)) ? readdirSync(join(root, at)) : [];
    const others = names.filter((name) =>
      name.endsWith("_module.ts") && posix.join(at, name) !== file
    );
    const found = [`${basename(at)}_module.ts`, basename(APP_FILE)].find((name) =>
      name === basename(APP_FILE) ? names.includes(name) : others.includes(name)
    ) ?? (others.length === 1 ? others[0] : undefined);
    if (found !== undefined) {
      return posix.join(at, found);
    }
    if (at === "." || at === "/") {
      return undefined;
    }
  }
}
