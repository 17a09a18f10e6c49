import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { MIDDLEWARE_ORDER } from "../../src/core/module/plugin.ts";
import { Page, page, PAGES, README } from "../support/docs.ts";
import { ROOT } from "../support/project.ts";
import { test } from "../support/test.ts";

/** Every file whose links have to lead somewhere. */
const LINKING = [
  README,
  ...PAGES,
  ...["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map((file) => new Page(file)),
];

const LINK = /\]\(([^)\s]+)\)/g;

test("README has at most 200 lines, and each page 60 to 200", () => {
  const lengths = [README, ...PAGES].map(({ file, lines }) => ({ file, lines: lines.length }));
  const wrong = lengths.filter(({ file, lines }) =>
    lines > 200 || file !== README.file && lines < 60
  );
  assert.deepEqual(wrong, []);
});

test("README lists every page once, in its table of the documentation", () => {
  const table = README.from("## Documentation").matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm);
  const listed = [...table].map(([, target]) => target);
  assert.deepEqual(listed.toSorted(), PAGES.map(({ file }) => file));
});

test("a page begins with its one title", () => {
  for (const { file, text } of LINKING) {
    assert.match(text, /^# \S/, file);
    assert.equal(withoutCode(text).match(/^# /gm)?.length, 1, file);
  }
});

test("every link to a file, an image or a heading of the repository leads there", () => {
  const broken: string[] = [];
  for (const { file, text } of LINKING) {
    for (const [, target = ""] of withoutCode(text).matchAll(LINK)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const linked = path === "" ? file : join(dirname(file), path);
      const isThere = existsSync(join(ROOT, linked)) &&
        (anchor === undefined || anchorsOf(new Page(linked)).includes(anchor));
      if (!isThere) broken.push(`${file}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

test("every file of the repository that is named exists", () => {
  const named = LINKING.flatMap(({ file, text }) => {
    // the pages also name files of an application's own `src`
    const folders = file === "CONTRIBUTING.md" ? "src|tests|examples" : "tests|examples";
    const paths = text.matchAll(new RegExp(`(?:${folders})/[\\w./-]*\\w`, "g"));
    return [...paths].map(([path]) => `${file}: ${path}`);
  });
  assert.ok(named.length > 30);
  const missing = named.filter((entry) => !existsSync(join(ROOT, entry.split(": ")[1] ?? "")));
  assert.deepEqual(missing, []);
});

test("no image is loaded from elsewhere", () => {
  for (const { file, text } of LINKING) {
    assert.doesNotMatch(text, /!\[[^\]]*\]\([a-z]+:|<img/i, file);
  }
});

test("only what another test compiles, or is not ours, is left out of the check of examples", () => {
  const ignored = [README, ...PAGES].flatMap(({ file, blocks }) =>
    blocks.filter(({ language }) => language === "ts ignore").map(() => file)
  );
  // a line of the program above it; code for NestJS; the entry point of tests/deploying
  assert.deepEqual(ignored, ["README.md", "docs/coming-from-nestjs.md", "docs/edge.md"]);
});

test("the page of middleware lists the order of MIDDLEWARE_ORDER", () => {
  const steps = page("middleware").text.matchAll(/^\d+\. `?(?:use|enable)?(\w+)/gm);
  const listed = [...steps].map(([, name = ""]) => name === "the" ? "routes" : name.toLowerCase());
  const names = new Map([["callerRateLimit", "rateLimit"], ["afterAuthentication", "use"]]);
  const slots = MIDDLEWARE_ORDER.map((slot) => names.get(slot) ?? slot);
  assert.deepEqual(listed, slots.map((slot) => slot.toLowerCase()));
});

/** Lists what a page's headings are linked by, as GitHub does. */
function anchorsOf({ text }: Page): readonly string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
    const anchor = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    const earlier = seen.get(anchor) ?? 0;
    seen.set(anchor, earlier + 1);
    return earlier === 0 ? anchor : `${anchor}-${earlier}`;
  });
}

/** Takes blocks of code and code within lines out of a text. */
function withoutCode(text: string): string {
  return text.replaceAll(/^```.*\n[^]*?\n```$/gm, "").replaceAll(/^(#.*)$|`[^`\n]*`/gm, "$1");
}
