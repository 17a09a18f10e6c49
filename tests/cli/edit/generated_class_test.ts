import assert from "node:assert/strict";
import { updateGeneratedClass } from "../../../src/cli/edit/generated_class.ts";
import { test } from "../../support/test.ts";

const BEFORE = `import { inject } from "@fw/fw";

export class CatsService {
  create(): string {
    return "cat";
  }

  list(): string {
    return "cats";
  }
}
`;

const AFTER = `import { ConflictException, inject } from "@fw/fw";

export class CatsService {
  async create(): Promise<string> {
    await this.#check();
    return "cat";
  }

  list(): string {
    return "cats";
  }

  /** Refuses dogs. */
  async #check(): Promise<void> {
    throw new ConflictException("A dog");
  }
}
`;

const change = { before: BEFORE, after: AFTER };

test("updateGeneratedClass() changes generated code to the code of its new form", async () => {
  assert.equal(await updateGeneratedClass(BEFORE, change), AFTER);
  assert.equal(await updateGeneratedClass(AFTER, change), AFTER);
});

test("updateGeneratedClass() keeps other members and imports", async () => {
  const own = (text: string) =>
    text.replace('return "cats";', 'return "all cats";')
      .replace("  list()", "  /** Mine. */\n  mine = inject(Date);\n\n  list()");
  assert.equal(await updateGeneratedClass(own(BEFORE), change), own(AFTER));
  const imported = "import { inject, route } from";
  const source = BEFORE.replace("import { inject } from", imported);
  assert.equal(
    await updateGeneratedClass(source, change),
    AFTER.replace(
      'import { ConflictException, inject } from "@fw/fw";',
      `${imported} "@fw/fw";\nimport { ConflictException } from "@fw/fw";`,
    ),
  );
});

const CHANGED: Readonly<Record<string, (text: string) => string>> = {
  "a changed member": (text) => text.replace('return "cat";', 'return "my cat";'),
  "a removed member": (text) => text.replace(/ {2}create[^}]*}\n\n/, ""),
  "another member of the name of a new one": (text) =>
    text.replace("  list()", "  #check(): void {}\n\n  list()"),
  "another import of a name": (text) =>
    text.replace("import { inject }", 'import { ConflictException } from "x";\nimport { Inject }'),
  "invalid code": (text) => `${text}}`,
  "no class": () => "export const cats = 1;\n",
};

for (const [what, edit] of Object.entries(CHANGED)) {
  test(`updateGeneratedClass() changes nothing in a file with ${what}`, async () => {
    const source = edit(BEFORE);
    assert.notEqual(source, BEFORE);
    assert.equal(await updateGeneratedClass(source, change), undefined);
  });
}
