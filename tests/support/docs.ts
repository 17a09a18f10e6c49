/** The documentation, for the tests of what it says. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./project.ts";

/** A block of code of a page. */
export interface CodeBlock {
  /** Its language, and what follows that, such as `ts ignore`. */
  readonly language: string;
  readonly code: string;
}

/** A file of documentation. */
export class Page {
  /** Its path from the root. */
  readonly file: string;
  readonly text: string;

  /** Reads a file. */
  constructor(file: string) {
    this.file = file;
    this.text = readFileSync(join(ROOT, file), "utf8");
  }

  /** Its lines. */
  get lines(): readonly string[] {
    return this.text.trimEnd().split("\n");
  }

  /** Its blocks of code, in their order. */
  get blocks(): readonly CodeBlock[] {
    const found = this.text.matchAll(/^```(.*)\n([^]*?)\n```$/gm);
    return [...found].map(([, language = "", code = ""]) => ({ language, code }));
  }

  /** Returns the text from a heading on. */
  from(heading: string): string {
    const start = `\n${this.text}`.indexOf(`\n${heading}\n`);
    if (start === -1) throw new Error(`Cannot read ${this.file}: it has no ${heading}`);
    return this.text.slice(start);
  }

  /** Returns the first block of code in a language after a heading. */
  block(language: string, heading: string): string {
    const [, code] = new RegExp(`^\`\`\`${language}\n([^]*?)\n\`\`\`$`, "m")
      .exec(this.from(heading)) ?? [];
    if (code === undefined) throw new Error(`Cannot read ${this.file}: no ${language} there`);
    return code;
  }
}

/** README. */
export const README: Page = new Page("README.md");

/** The pages in the folder of the documentation. */
export const PAGES: readonly Page[] = readdirSync(join(ROOT, "docs")).filter((name) =>
  name.endsWith(".md")
).toSorted().map((name) => new Page(`docs/${name}`));

/** Returns a page by its name, such as `routes`. */
export function page(name: string): Page {
  return new Page(`docs/${name}.md`);
}
