/** `fw doctor` on jobs: what it reads in the sources, the modules and the database. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");

const KINDS = `import { event, job } from "@fw/fw/jobs";

export const Send = job("send");
export const Sweep = job("sweep");
export const Lost = job("lost");
const Unlisted = job("unlisted");
export const Placed = event("placed");

export class Handlers {
  send = Send.handle(() => Sweep.enqueue());
  sweep = Sweep.handle(() => {});
  mail = Placed.durable("mail", () => {});
  ship = Placed.durable("ship", { retries: 5 }, () => {});
}
export class Others {
  unlisted = Unlisted.handle(() => {});
}
`;

test(
  "fw doctor names kinds and handlers of jobs that do not meet, and jobs that nothing handles",
  async () => {
    await using project = await MadeProject.make({ db: "sqlite" });
    const edit = (file: string, change: (text: string) => string) => {
      const path = join(project.root, file);
      const text = readFileSync(path, "utf8");
      assert.notEqual(change(text), text);
      writeFileSync(path, change(text));
    };
    const found = async () => {
      const { stdout } = await fw("doctor", { cwd: project.root });
      const lines = stdout.split("\n").map((line) => line.split(/ {2,}/));
      return lines.filter(([, subject]) => subject === "jobs").map((
        [level, , text],
      ) => [level, text]);
    };
    assert.deepEqual(await found(), []);

    mkdirSync(join(project.root, "src/jobs"));
    writeFileSync(join(project.root, "src/jobs/jobs.ts"), KINDS);
    await project.fw("db migrate");
    const lacks = "Cannot use jobs: the service lacks their table; add ...jobTables to its models";
    const unhandled = ["warning", "without a handler: lost"];
    const unused = ["warning", "handled, but never enqueued: send, unlisted"];
    assert.deepEqual(await found(), [
      unhandled,
      unused,
      ["problem", "none runs: no module imports JobsModule.forRoot(Db)"],
      ["problem", lacks],
    ]);

    edit(
      "src/database.ts",
      (text) =>
        text.replace(/^/, 'import { jobTables } from "@fw/fw/jobs";\n')
          .replace("// name of the repository: model", "...jobTables,"),
    );
    edit("src/app.ts", (text) =>
      text.replace(/^/, 'import { JobsModule } from "@fw/fw/jobs";\n')
        .replace(/^/, 'import { Handlers } from "./jobs/jobs.ts";\n')
        .replace("imports: [DatabaseModule", "imports: [DatabaseModule, JobsModule.forRoot(Db)")
        .replace("providers: [", "providers: [Handlers, "));
    const unprovided = [
      "problem",
      "Others, which handles unlisted, is in the providers of no module",
    ];
    assert.deepEqual(await found(), [
      unhandled,
      unused,
      unprovided,
      [
        "problem",
        "Cannot read jobs: their table is missing; fw db diff add-jobs writes its migration",
      ],
    ]);

    await project.fw("db diff add-jobs");
    assert.deepEqual(await found(), [unhandled, unused, unprovided]); // a migration is pending
    await project.fw("db migrate");
    mkdirSync(join(project.root, "seeds"));
    writeFileSync(
      join(project.root, "seeds/01_jobs.ts"),
      `import { job, Jobs } from "@fw/fw/jobs";
import type { Db } from "../src/database.ts";
import { Lost, Send } from "../src/jobs/jobs.ts";

export default async function seed(db: Db): Promise<void> {
  const jobs = Jobs.of(db);
  for (const name of ["placed:mail", "placed:ship", "placed:gone", "fw.webhook", "schedule:sweep"]) {
    await jobs.enqueue(Object.assign(job("x"), { name }), undefined);
  }
  for (const kind of [Send, Lost, job("sent"), job("sent")]) await jobs.enqueue(kind, undefined);
}
`,
    );
    await project.fw("db seed");
    const stranded = (count: number, name: string) => [
      "warning",
      `${count} of ${name} wait, and nothing in src handles them: was it renamed?`,
    ];
    assert.deepEqual(await found(), [
      unhandled,
      unused,
      unprovided,
      stranded(1, "lost"),
      stranded(1, "placed:gone"),
      stranded(2, "sent"),
    ]);

    rmSync(join(project.root, "data/data.sqlite"));
    await project.fw("db migrate");
    edit(
      "src/app.ts",
      (text) =>
        text.replace("{ Handlers }", "{ Handlers, Others }").replace(
          "[Handlers",
          "[Handlers, Others",
        ),
    );
    edit("src/jobs/jobs.ts", (text) =>
      text.replace(/.*"lost".*\n/, "")
        .replace("sweep = Sweep", "again = () => Promise.all([Send, Unlisted]); sweep = Sweep"));
    assert.deepEqual(await found(), [["warning", "handled, but never enqueued: send, unlisted"]]);
    edit(
      "src/jobs/jobs.ts",
      (text) =>
        text.replace("Promise.all([Send, Unlisted])", "[Send.enqueue(), Unlisted.enqueue()]"),
    );
    assert.deepEqual(await found(), [["ok", "5 kinds, each handled"]]);

    writeFileSync(join(project.root, "src/jobs/broken.ts"), 'export const = job("broken");\n');
    assert.deepEqual(await found(), [["skipped", "src/jobs/broken.ts cannot be parsed"]]);
  },
  { slow: true },
);
