/** What README shows, for the tests of what it says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./project.ts";

/** The text of README. */
export const README: string = readFileSync(join(ROOT, "README.md"), "utf8");

/** Gives the first block of code in a language after a text, such as a heading. */
export function readmeBlock(language: string, after: string): string {
  const start = README.indexOf(`\`\`\`${language}\n`, README.indexOf(after));
  return README.slice(start + language.length + 4, README.indexOf("\n```", start));
}
