import assert from "node:assert/strict";
import { addToDatabase, addToModule } from "../../../src/cli/edit/source_file.ts";
import { test } from "../../support/test.ts";

const CATS = { name: "CatsModule", from: "./cats/cats_module.ts", list: "imports" } as const;
const IMPORT = 'import { CatsModule } from "./cats/cats_module.ts";';

const EDITS: readonly (readonly [what: string, before: string, after: string])[] = [
  [
    "an empty list",
    `import { module } from "@fw/fw";
export const A = module({ imports: [], controllers: [] });
`,
    `import { module } from "@fw/fw";
${IMPORT}
export const A = module({ imports: [CatsModule], controllers: [] });
`,
  ],
  [
    "a list on one line",
    `import { module } from "@fw/fw";
export const A = module({ imports: [B, c()] });
`,
    `import { module } from "@fw/fw";
${IMPORT}
export const A = module({ imports: [B, c(), CatsModule] });
`,
  ],
  [
    "a list of several lines with comments, which keep their place",
    `import { module } from "@fw/fw";
export const A = module({
  imports: [
    B, // the first, of all
    /* nothing, */
  ],
});
`,
    `import { module } from "@fw/fw";
${IMPORT}
export const A = module({
  imports: [
    B, // the first, of all
    /* nothing, */
    CatsModule,
  ],
});
`,
  ],
  [
    "a list of several lines without a trailing comma, in single quotes and without semicolons",
    `import { module } from '@fw/fw'
export const A = module({
    imports: [
        B
    ]
})
`,
    `import { module } from '@fw/fw'
import { CatsModule } from './cats/cats_module.ts'
export const A = module({
    imports: [
        B,
        CatsModule
    ]
})
`,
  ],
  [
    "a list of only a comment",
    `import { module } from "@fw/fw";
export const A = module({
  imports: [
    // empty
  ],
});
`,
    `import { module } from "@fw/fw";
${IMPORT}
export const A = module({
  imports: [
    // empty
    CatsModule,
  ],
});
`,
  ],
  [
    "a module without the list",
    `import { module } from "@fw/fw";
export const A = module({
  name: "A",
});
`,
    `import { module } from "@fw/fw";
${IMPORT}
export const A = module({
  name: "A",
  imports: [CatsModule],
});
`,
  ],
  [
    "lines that end as on Windows",
    'import { module } from "@fw/fw";\r\nexport const A = module({\r\n\timports: [\r\n\t\tB,\r\n\t],\r\n});\r\n',
    `import { module } from "@fw/fw";\r\n${IMPORT}\r\nexport const A = module({\r\n\timports: [\r\n\t\tB,\r\n\t\tCatsModule,\r\n\t],\r\n});\r\n`,
  ],
  [
    "a module that a function returns, with a quoted key",
    `import { module } from "@fw/fw";
export async function appModule(url: string): Promise<Module> {
  return module({ "imports": [await db(url)] });
}
`,
    `import { module } from "@fw/fw";
${IMPORT}
export async function appModule(url: string): Promise<Module> {
  return module({ "imports": [await db(url), CatsModule] });
}
`,
  ],
];

for (const [what, before, after] of EDITS) {
  test(`addToModule() adds to ${what}`, async () => {
    assert.equal(await addToModule(before, CATS), after);
    assert.equal(await addToModule(after, CATS), after, "twice");
  });
}

test("addToModule() lists an imported name, and does not confuse it with a local one", async () => {
  const before = `import { module } from "@fw/fw";
${IMPORT}
export function f() {
  const CatsModule = 1;
  return CatsModule;
}
export const A = module({ imports: [] });
`;
  const after = before.replace("imports: []", "imports: [CatsModule]");
  assert.equal(await addToModule(before, CATS), after);
});

test("addToModule() keeps a comment after an import in its place", async () => {
  const before = 'import { module } from "@fw/fw"; // the framework\nmodule({ imports: [] });\n';
  const after = before
    .replace("framework\n", `framework\n${IMPORT}\n`)
    .replace("imports: []", "imports: [CatsModule]");
  assert.equal(await addToModule(before, CATS), after);
});

const UNSAFE: readonly (readonly [what: string, source: string])[] = [
  ["that is no module", "export const A = {};"],
  ["that imports nothing", "export const A = module({ imports: [] });"],
  ["that does not parse", "export const A = module({ imports: [ });"],
  ["with two modules", "export const A = module({}); export const B = module({});"],
  ["whose list is elsewhere", "export const A = module({ imports: LIST });"],
  ["whose list is made", "export const A = module({ imports: [B].concat(C) });"],
  ["whose options are elsewhere", "export const A = module(OPTIONS);"],
  ["whose options are spread", "export const A = module({ ...OPTIONS });"],
  ["whose list ends within a comment", "module({ imports: [ /* none,\n yet */ ] });"],
  ["whose list has a comment of two lines", "module({ imports: [A /* one\n two */] });"],
  ["whose item is in parentheses", "module({ imports: [(A)] });"],
  [
    "that lists another of the name",
    'import { CatsModule } from "x";\nmodule({ imports: [CatsModule] });',
  ],
  ["with another of the name", "class CatsModule {}\nexport const A = module({ imports: [] });"],
  [
    "that imports another of the name",
    'import { CatsModule } from "x";\nexport const A = module({ imports: [] });',
  ],
];

for (const [what, source] of UNSAFE) {
  test(`addToModule() does not change a file ${what}`, async () => {
    const importing = what === "that imports nothing" ? "" : 'import { module } from "@fw/fw";\n';
    assert.equal(await addToModule(importing + source, CATS), undefined);
  });
}

test("addToDatabase() adds a model, and keeps relations", async () => {
  const cat = { name: "Cat", accessor: "cat", from: "./cats/cat_model.ts" };
  const before = `import { DbService } from "@fw/fw/db";
export class Db extends DbService.with({ user: User }, { user: { cats: hasMany(x) } }) {}
`;
  const after = `import { DbService } from "@fw/fw/db";
import { Cat } from "./cats/cat_model.ts";
export class Db extends DbService.with({ user: User, cat: Cat }, { user: { cats: hasMany(x) } }) {}
`;
  assert.equal(await addToDatabase(before, cat), after);
  assert.equal(await addToDatabase(after, cat), after);
  assert.equal(await addToDatabase("class Db extends DbService.with(MODELS) {}", cat), undefined);
});

test("addToDatabase() spreads models without an accessor", async () => {
  const tables = { name: "jobTables", from: "@fw/fw/jobs" };
  const before = `import { DbService } from "@fw/fw/db";
export class Db extends DbService.with({
  // name of the repository: model
}) {}
`;
  const after = `import { DbService } from "@fw/fw/db";
import { jobTables } from "@fw/fw/jobs";
export class Db extends DbService.with({
  // name of the repository: model
  ...jobTables,
}) {}
`;
  assert.equal(await addToDatabase(before, tables), after);
  assert.equal(await addToDatabase(after, tables), after);
  assert.equal(await addToDatabase(after.replace("@fw/fw/jobs", "./jobs.ts"), tables), undefined);
});
