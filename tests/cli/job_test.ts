/** Jobs that are generated, in projects for Deno. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { run } from "../../src/cli/system/programs.ts";
import { SERVERS } from "../db/support/servers.ts";
import { until } from "../jobs/support/jobs_app.ts";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are checked, tested and served by it");

test("fw generate job writes a job in a project without a database, and a second one beside it", async () => {
  await using project = await MadeProject.make();
  const printed = await project.fw(
    "generate job send-receipt orderId:integer email:text? --retries 5",
  );
  assert.deepEqual(linesOf(printed, /src\/send|fw_jobs|src\/app\.ts|src\/(database|queue)\.ts/), [
    "create src/database.ts",
    "update src/app.ts",
    "create src/queue.ts",
    "create src/send_receipts/send_receipt_job.ts",
    "create src/send_receipts/send_receipt_handler.ts",
    "create src/send_receipts/send_receipt_handler_test.ts",
    "note The project now has a database: src/database.ts, at DATABASE_URL of .env",
    "create table fw_jobs",
    "create migrations/0001_create_fw_jobs.sql",
    "create migrations/0001_create_fw_jobs.down.sql",
  ]);
  assert.match(printed, /^note To enqueue one: await SendReceipt\.enqueue\(\{ orderId: 1 \}\)$/m);
  assert.equal(
    read(project, "src/send_receipts/send_receipt_job.ts"),
    `import { job } from "@fw/fw/jobs";
import * as v from "valibot";

/**
 * Enqueue it in the transaction of what it follows: a rollback leaves no job. The name is stored
 * with each job: renaming it strands those that wait.
 */
export const SendReceipt = job("send-receipt", {
  body: v.object({
    orderId: v.pipe(v.number(), v.safeInteger()),
    email: v.nullish(v.string(), null),
  }),
  retries: 5,
});
`,
  );
  assert.match(read(project, "src/database.ts"), /\n {2}\.\.\.jobTables,\n\}\) \{\}/);
  const app = read(project, "src/app.ts");
  assert.match(app, /imports: \[DatabaseModule, QueueModule\],/);
  assert.match(app, /providers: \[GreetingService, SendReceiptHandler\],/);

  const second = await project.fw("g job SweepJob --path src/send_receipts --flat");
  assert.deepEqual(linesOf(second, /./), [
    "create src/send_receipts/sweep_job.ts",
    "create src/send_receipts/sweep_handler.ts",
    "create src/send_receipts/sweep_handler_test.ts",
    "update src/app.ts",
    "note To enqueue one: await Sweep.enqueue()",
  ]);
  assert.match(
    read(project, "src/send_receipts/sweep_job.ts"),
    /\nexport const Sweep = job\("sweep"\);\n$/,
  );
  assert.match(read(project, "src/app.ts"), /imports: \[DatabaseModule, QueueModule\],/);
  assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
});

test(
  "fw generate job refuses names and fields that it cannot use, and writes nothing",
  async () => {
    await using project = await MadeProject.make();
    await project.fw("g job send-receipt");
    const before = filesOf(project);
    const mistakes: Readonly<Record<string, string>> = {
      "g job jobs": 'Cannot use the name "jobs": generated code uses another Jobs',
      "g job test-module":
        'Cannot use the name "test-module": generated code uses another TestModule',
      "g job infinity": 'Cannot use the name "infinity": generated code uses another Infinity',
      "g job class": 'Cannot use the name "class": it is a reserved word',
      [`g job ${"aB".repeat(50)}`]: "a kind of job has at most 100 characters",
      "g job mails/send-receipt":
        "Cannot generate src/mails/send_receipts/send_receipt_job.ts: src has another job of the name",
      "g job send-receipt":
        "Cannot write src/send_receipts/send_receipt_job.ts: it exists; --force",
      "g job remind at:txet": 'Cannot read the field "at:txet": there is no kind txet; ',
      "g job remind order:references":
        "Cannot generate order_id: a payload has no references; write order_id:integer",
    };
    for (const [command, message] of Object.entries(mistakes)) {
      const { code, stdout, stderr } = await fw(command, { cwd: project.root });
      assert.deepEqual([code, stdout], [1, ""], command);
      assert.ok(stderr.startsWith("error: ") && stderr.includes(message), stderr);
      assert.deepEqual(filesOf(project), before, command);
    }
    await project.fw("g job send-receipt --force");
    assert.deepEqual(filesOf(project), before);
  },
  { slow: true },
);

test("fw generate job adds nothing to code that it does not understand, and says what to add", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  edit(
    project,
    "src/database.ts",
    (text) =>
      text.replace("DbService.with({", "DbService.with(MODELS) {}\nexport const MODELS = ({")
        .replace("}) {}", "});"),
  );
  edit(project, "src/app.ts", (text) => `${text}\nexport class QueueModule {}\n`);
  const before = [read(project, "src/database.ts"), read(project, "src/app.ts")];
  const printed = await project.fw("g job sweep --path src/work");
  assert.match(
    printed,
    /^note Add \.\.\.jobTables of @fw\/fw\/jobs to DbService\.with\(\{ … \}\) /m,
  );
  assert.deepEqual(linesOf(printed, /QueueModule/), [
    "note Add QueueModule to the imports of src/app.ts: its code is not as expected, or has " +
    "another QueueModule",
  ]);
  const [database, app = ""] = before;
  assert.equal(read(project, "src/database.ts"), database);
  assert.equal(
    read(project, "src/app.ts").replace(/import \{ SweepHandler.*\n/, "")
      .replace(", SweepHandler", ""),
    app,
  );
});

test("fw generate job keeps its code where no database runs, and names the migration", async () => {
  await using project = await MadeProject.make({ db: "postgres" });
  const { code, stdout, stderr } = await fw("g job sweep", {
    cwd: project.root,
    env: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" },
  });
  assert.equal(code, 1);
  assert.match(stdout, /^create src\/sweeps\/sweep_job\.ts$/m);
  assert.match(
    stderr,
    /^error: Cannot open PostgreSQL .+; the code is written, and fw db diff create_fw_jobs writes its migration\n$/,
  );
  assert.match(await project.fw("db diff create_fw_jobs"), /^create table fw_jobs$/m);
}, { skip: SERVERS.postgres.skip, slow: true });

/** Jobs with a payload of each kind; the first field of each is reported as the progress. */
const COMMANDS: readonly string[] = [
  "generate resource order email:text:email total:decimal:12,2",
  "g job orders/send-receipt orderId:integer email:text:email? --retries 5 --flat",
  "g job sweep",
  "g job remind at:timestamp note:text:20..40 state:enum:open,closed token:uuid day:date time:time " +
  "ratio:number:0.5.. open:boolean copies:integer=1 --retries 0",
  "g job later at:timestamp?",
  "g job tidy note:text?=all",
];

for (const db of [undefined, "sqlite", "postgres", "mysql"] as const) {
  const skip = db === "postgres" || db === "mysql" ? SERVERS[db].skip : undefined;
  test(
    `generated jobs pass the checks of their project, and run (${db ?? "without a database"})`,
    async () => {
      await using project = await MadeProject.make({ db, strict: true });
      for (const command of COMMANDS) await project.fw(command);
      assert.equal(await project.fw("db diff --check"), "The models and the migrations agree.\n");
      const names = await project.ok();
      for (const kind of ["SendReceipt", "Sweep", "Remind", "Later", "Tidy"]) {
        assert.ok(names.includes(`${kind} is enqueued with a commit, and handled`), kind);
      }
      for (const kind of ["SendReceipt", "Remind"]) {
        assert.ok(names.includes(`${kind} refuses a payload that does not satisfy its schema`));
      }
      const listing = read(project, "src/orders/orders_module.ts");
      assert.match(listing, /imports: \[DatabaseModule, QueueModule\],/);
      assert.match(
        listing,
        /OrdersService, SendReceiptHandler/,
      );

      edit(project, "src/orders/orders_service.ts", (text) =>
        text.replace(
          "return this.#db.order.create({ data });",
          `return this.#db.transaction(async () => {
      const order = await this.#db.order.create({ data });
      await SendReceipt.enqueue({ orderId: order.id, email: order.email });
      return order;
    });`,
        ).replace("\n\n", '\nimport { SendReceipt } from "./send_receipt_job.ts";\n\n'));
      edit(
        project,
        "src/orders/orders_service_test.ts",
        (text) =>
          text.replace(/module\(\{(?=\s+providers)/, "module({ imports: [QueueModule],")
            .replace("\n\n", '\nimport { QueueModule } from "../queue.ts";\n\n'),
      );
      const format = await run([process.execPath, "fmt", "-q", "src"], { cwd: project.root });
      assert.equal(format.code, 0);
      await project.ok();
      await project.serving(async (request) => {
        const json = { email: "ada@example.org", total: "9.50" };
        const created = await request("/api/v1/orders", { json });
        assert.deepEqual([created.status, (await created.json()).id], [201, 1]);
        await until(async () => /send-receipt +done/.test(await project.fw("jobs list")));
      });
      const doctor = await fw("doctor", { cwd: project.root, env: project.env });
      assert.deepEqual(linesOf(doctor.stdout, /^\w+ +jobs /), [
        "warning  jobs         handled, but never enqueued: later, remind, sweep and 1 more",
      ]);
    },
    { skip, slow: db === "sqlite" || "long" },
  );
}

function read({ root }: MadeProject, file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function edit(project: MadeProject, file: string, change: (text: string) => string): void {
  const text = read(project, file);
  assert.notEqual(change(text), text);
  writeFileSync(join(project.root, file), change(text));
}

/** Returns the lines of an output that match. */
function linesOf(output: string, pattern: RegExp): readonly string[] {
  return output.trimEnd().split("\n").filter((line) => pattern.test(line));
}

/** Lists the files of a project but those of git, with their texts. */
function filesOf({ root }: MadeProject): Readonly<Record<string, string>> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("/.git/") && !file.includes("/node_modules/"));
  return Object.fromEntries(files.map((file) => [file, readFileSync(file, "utf8")]));
}
