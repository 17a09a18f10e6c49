/** `fw work` runs a project on its own runtime, which here is that of the tests. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { RELEASE } from "../../src/cli/project/framework.ts";
import { until } from "../jobs/support/jobs_app.ts";
import { ROOT } from "../support/project.ts";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { test } from "../support/test.ts";
import { fw } from "./fw.ts";

const isDeno = "Deno" in globalThis;

/** An application whose job, enqueued at its start, waits for a file that a test writes. */
const APP = `import { existsSync, writeFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { inject, module } from "@fw/fw";
import { DbModule, DbOptions, DbService } from "@fw/fw/db";
import { job, Jobs, JobsModule, jobTables } from "@fw/fw/jobs";

class Db extends DbService.with({ ...jobTables }) {}
const Slow = job("slow");

class SlowJobs {
  readonly #db = inject(Db);
  readonly #jobs = inject(Jobs);
  slow = Slow.handle(async () => {
    try {
      writeFileSync("outside", "");
    } catch {
      // not permitted
    }
    writeFileSync("data/begun", "");
    while (!existsSync("data/go")) await delay(10);
    writeFileSync("data/done", process.env.GREETING ?? "");
  });
  async onApplicationBootstrap(): Promise<void> {
    await this.#db.createTables();
    await this.#jobs.enqueue(Slow, undefined);
  }
}
const database = DbModule.forRoot(Db, DbOptions.fromUrl("sqlite:data/jobs.sqlite"));
export const AppModule = module({
  imports: [database, JobsModule.forRoot(Db)],
  providers: [SlowJobs],
});
export function setUp(): void {
  if (process.env.FAIL) throw new Error("set up\\n\\u001b[2J");
}
`;

/** A project of a runtime, with the framework of this checkout. */
class Project implements Disposable {
  readonly #folder = new TemporaryFolder();
  readonly root: string = this.#folder.path;

  constructor() {
    for (const folder of ["src", "data"]) mkdirSync(join(this.root, folder));
    this.write("src/app.ts", APP);
    this.write(".env", "GREETING=hello\n");
    if (isDeno) {
      const flags = "-qER --allow-write=data -S=hostname";
      const start = { command: `deno run ${flags} --env-file src/main.ts` };
      const imports = { "@fw/fw": RELEASE };
      this.write("deno.json", JSON.stringify({ tasks: { start }, imports, links: [ROOT] }));
      return;
    }
    this.write("package.json", '{ "type": "module", "dependencies": { "@fw/fw": "0.1.0" } }');
    const exports = { ".": "./mod.ts", "./db": "./src/db/mod.ts", "./jobs": "./src/jobs/mod.ts" };
    mkdirSync(join(this.root, "node_modules/@fw/fw"), { recursive: true });
    this.write("node_modules/@fw/fw/package.json", JSON.stringify({ type: "module", exports }));
    for (const name of ["mod.ts", "src"]) {
      symlinkSync(join(ROOT, name), join(this.root, "node_modules/@fw/fw", name));
    }
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text);
  }

  /** Starts a command, and waits until the job runs. */
  async start(...args: readonly string[]): Promise<Subprocess> {
    const file = relative(this.root, join(ROOT, "src/cli/mod.ts"));
    const started = new Subprocess(file, { args, cwd: this.root });
    await started.until(/Workers have started/);
    await until(() => existsSync(join(this.root, "data/begun")));
    return started;
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`fw work runs jobs on the runtime of the project, and ends them at ${signal}`, async () => {
    using project = new Project();
    await using work = await project.start("work", "--drain-ms", "60000");
    work.kill(signal);
    project.write("data/go", "");
    const { code, output } = await work.ended;
    assert.equal(code, 0, output);
    assert.equal(readFileSync(join(project.root, "data/done"), "utf8"), "hello");
    // its permissions are those of the task start
    assert.equal(existsSync(join(project.root, "outside")), !isDeno);
  }, { slow: signal === "SIGINT" });
}

test("fw work --drain-ms limits how long a stop waits for a run", async () => {
  using project = new Project();
  await using work = await project.start("work", "--drain-ms", "100");
  work.kill("SIGTERM");
  const { code, output } = await work.ended;
  assert.equal(code, 0, output);
  assert.match(output, /has not ended, and returns to the queue/);
  assert.equal(existsSync(join(project.root, "data/done")), false);
});

test("fw work that cannot start prints a line, and ends with exit code 1", async () => {
  using project = new Project();
  project.write(
    "src/no_jobs.ts",
    'import { module } from "@fw/fw";\nexport const AppModule = module({ providers: [] });\n',
  );
  const other = "--app names another file";
  for (
    const [command, message, env] of [
      [
        "work --app src/no_jobs.ts",
        "Cannot run jobs: the application imports no JobsModule.forRoot(Db)",
      ],
      ["work --app src/none.ts", `Cannot load src/none.ts: it does not exist; ${other}`],
      ["work", /^error: set up; \?\[2J(?: \(src\/app\.ts:\d+:\d+\))?\n$/, { FAIL: "1" }],
    ] as const
  ) {
    const { code, stdout, stderr } = await fw(command, { cwd: project.root, env: env ?? {} });
    assert.deepEqual([code, stdout], [1, ""], stderr);
    if (typeof message === "string") assert.equal(stderr, `error: ${message}\n`);
    else assert.match(stderr, message);
  }
  const { code, stderr } = await fw("work --drain-ms -1", { cwd: project.root });
  assert.equal(code, 2);
  assert.match(stderr, /argument '-1' is invalid\. It is not a whole number from 0 to 999999999\./);
}, { slow: true });
