/**
 * Editing files of a project: the nearest module lists the generated classes.
 *
 * @module
 */
import { join, posix } from "node:path";
import { addToModule, type ModuleList } from "../edit/source_file.ts";
import { APP_FILE } from "../project/project.ts";
import { listFolder } from "../system/files.ts";
import { format } from "../system/programs.ts";
import { type Generation, specifierOf } from "./target.ts";

/**
 * Plans to change a file of the project. Returns whether the change is safe; an unsafe one is not
 * planned.
 */
export async function editFile(
  { plan, project: { root } }: Pick<Generation, "plan" | "project">,
  { path, change }: {
    readonly path: string;
    readonly change: (source: string) => Promise<string | undefined>;
  },
): Promise<boolean> {
  const source = plan.read(path);
  const text = source === undefined ? undefined : await change(source);
  if (source === undefined || text === undefined) return false;
  if (text === source) return true;
  const wasFormatted = await format({ path, text: source }, root) === source;
  plan.update(path, wasFormatted ? await format({ path, text }, root) : text);
  return true;
}

/** What to list in a module. */
export interface Listing {
  /** The list: `imports`, `providers` or `controllers`. */
  readonly list: ModuleList;
  /** The exported name. */
  readonly name: string;
  /** The file. */
  readonly file: string;
  /** The folder whose module lists it; else the module of the nearest folder above. */
  readonly folder: string;
}

/** Plans to list something in the nearest module, or adds a note if that is not safe. */
export async function listInModule(
  generation: Generation,
  { list, name, file, folder }: Listing,
): Promise<void> {
  const { plan, project } = generation;
  const path = findModule(project.root, { folder, file });
  const byHand = `Add ${name} to the ${list} of ${path ?? "the module that is to have it"}`;
  if (path === undefined) return plan.note(`${byHand}: no module was found`);
  const addition = { list, name, from: specifierOf(posix.dirname(path), file) };
  const isEdited = await editFile(generation, {
    path,
    change: (source) => addToModule(source, addition),
  });
  if (isEdited) return;
  plan.note(
    `${byHand}: its code is not as expected, or has another ${name}`,
  );
}

/** Finds the nearest module, in a folder or above it, other than the file itself. */
function findModule(
  root: string,
  { folder, file }: Pick<Listing, "folder" | "file">,
): string | undefined {
  const names = listFolder(join(root, folder));
  const app = posix.basename(APP_FILE);
  const candidates = names.filter((name) =>
    (name === app || name.endsWith("_module.ts")) && posix.join(folder, name) !== file
  );
  const own = [`${posix.basename(folder)}_module.ts`, app].find((name) =>
    candidates.includes(name)
  );
  const found = own ?? (candidates.length === 1 ? candidates[0] : undefined);
  if (found !== undefined) return posix.join(folder, found);
  const above = posix.dirname(folder);
  return above === folder ? undefined : findModule(root, { folder: above, file });
}
