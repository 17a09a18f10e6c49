/** Folders of files that tests write. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes files by their names in a folder, all of which are made. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}
