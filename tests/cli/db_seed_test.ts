/** `fw db seed` runs in a project, on Deno. */
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");

test("fw db seed runs the seeds in their order, in one transaction, as often as it is called", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  const seed = async (env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await fw("db seed", { cwd: project.root, env });
    return [code, stdout + stderr];
  };
  assert.deepEqual(await seed(), [1, "error: Cannot seed: there is no seeds/*.ts\n"]);
  await project.fw("g model cat name:text:unique");
  mkdirSync(join(project.root, "seeds"));
  const write = (name: string, body: string) =>
    writeFileSync(
      join(project.root, "seeds", name),
      `import type { Db } from "../src/database.ts";\n\n` +
        `export default async function seed(db: Db): Promise<void> {\n${body}\n}\n`,
    );
  write(
    "02_toms.ts",
    `  const last = await db.cat.findFirst({ orderBy: { id: "desc" } });
  if (last?.name !== "Tom") throw new Error(\`the last cat is \${last?.name}\`);`,
  );
  assert.deepEqual(await seed(), [1, "error: the last cat is undefined (seeds/02_toms.ts:5:35)\n"]);
  write(
    "01_cats.ts",
    '  await db.cat.upsertMany({ by: "name", create: [{ name: "Tom" }], update: ["name"] });',
  );
  const ran = "ran seeds/01_cats.ts\nran seeds/02_toms.ts\n";
  assert.deepEqual(await seed(), [0, ran]);
  assert.deepEqual(await seed(), [0, ran]);

  write(
    "03_more.ts",
    '  await db.cat.create({ data: { name: "Lost" } });\n  throw new Error("no");',
  );
  assert.deepEqual(await seed(), [1, "error: no (seeds/03_more.ts:5:9)\n"]);
  write("03_more.ts", '  if (await db.cat.count() !== 1) throw new Error("not undone");');
  assert.deepEqual(await seed(), [0, `${ran}ran seeds/03_more.ts\n`]);
  writeFileSync(join(project.root, "seeds/04_none.ts"), "export const cats = 1;\n");
  assert.deepEqual(await seed(), [
    1,
    "error: Cannot seed: seeds/04_none.ts has no function as its default export\n",
  ]);
  rmSync(join(project.root, "seeds/04_none.ts"));
  write("03_more.ts", '  console.log("more\\ncats");\n  console.error("a warning");');
  const { stdout, stderr } = await fw("db seed", { cwd: project.root });
  assert.deepEqual([stdout, stderr], [`more\ncats\n${ran}ran seeds/03_more.ts\n`, "a warning\n"]);
  assert.deepEqual(await seed({ FW_ENV: "production" }), [
    1,
    "error: Cannot seed sqlite:data/data.sqlite: FW_ENV is production; --yes does so anyway\n",
  ]);
});
