/** Programs of the pages, as modules. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./project.ts";
import { TemporaryFolder } from "./temporary_folder.ts";

/** Imports a program of `@fw/fw/db` and Kysely, and returns some of what it declares. */
export async function importProgram(code: string, names: readonly string[]): Promise<unknown> {
  using folder = new TemporaryFolder();
  const file = join(folder.path, "program.ts");
  const program = code
    .replace('"@fw/fw/db"', JSON.stringify(pathToFileURL(join(ROOT, "src/db/mod.ts")).href))
    .replace('"kysely"', JSON.stringify(import.meta.resolve("kysely")));
  writeFileSync(file, `${program}\nexport { ${names.join(", ")} };\n`);
  return await import(pathToFileURL(file).href);
}
