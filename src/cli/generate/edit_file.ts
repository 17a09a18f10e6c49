/**
 * Editing a file of a project, which stays formatted if it was.
 *
 * @module
 */
import { format } from "../system/deno.ts";
import type { Generation } from "./generation.ts";

/**
 * Plans to change a file of the project. Tells whether the change is safe; nothing is planned if it is
 * not.
 */
export async function editFile(
  { plan, project: { root } }: Pick<Generation, "plan" | "project">,
  path: string,
  change: (source: string) => Promise<string | undefined>,
): Promise<boolean> {
  const source = plan.read(path);
  const text = source === undefined ? undefined : await change(source);
  if (source === undefined || text === undefined) return false;
  if (text === source) return true;
  const wasFormatted = await format({ path, text: source }, root) === source;
  plan.update(path, wasFormatted ? await format({ path, text }, root) : text);
  return true;
}
