/** `fw jobs` runs in a project, on Deno. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SERVERS } from "../db/support/servers.ts";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");

/** Jobs of each state: their ids, by what the seed calls them. */
const SEED = `import { job, Jobs } from "@fw/fw/jobs";
import * as v from "valibot";
import type { Db } from "../src/database.ts";

const SendReceipt = job("send-receipt", { body: v.object({ email: v.string() }) });
const Sweep = job("sweep");

export default async function seed(db: Db): Promise<void> {
  const jobs = Jobs.of(db);
  const ids: Record<string, string> = {};
  ids.sweep = await jobs.enqueue(Sweep, undefined);
  ids.dead = await jobs.enqueue(SendReceipt, { email: "ada@example.org" });
  ids.old = await jobs.enqueue(SendReceipt, { email: "bob@example.org" });
  ids.running = await jobs.enqueue(Sweep, undefined);
  ids.done = await jobs.enqueue(Sweep, undefined);
  const reason = "Error: the mail\\u001b[2J server\\nanswers: " + "no ".repeat(30);
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const dead = { state: "dead", attempts: 4, reason, progress: { step: 1 } } as const;
  const trace = { traceId: "ab".repeat(16), spanId: "cd".repeat(8), traceFlags: 1 };
  const change = (id: string, data: Parameters<typeof db.fwJob.updateMany>[0]["data"]) =>
    db.fwJob.updateMany({ where: { id }, data });
  await change(ids.dead, { ...dead, trace, ended_at: hoursAgo(1) });
  await change(ids.old, { ...dead, ended_at: hoursAgo(50) });
  await change(ids.running, { state: "running", lease: crypto.randomUUID() });
  await change(ids.done, { state: "done", ended_at: hoursAgo(50) });
  await Deno.writeTextFile("ids.json", JSON.stringify(ids));
}
`;

/** Creates a project with jobs of each state. */
async function projectWithJobs(db: "sqlite" | "postgres" | "mysql") {
  const project = await MadeProject.make({ db });
  const database = join(project.root, "src/database.ts");
  writeFileSync(
    database,
    readFileSync(database, "utf8")
      .replace(/^/, 'import { jobTables } from "@fw/fw/jobs";\n')
      .replace("// name of the repository: model", "...jobTables,"),
  );
  await project.fw("db diff add-jobs");
  await project.fw("db migrate");
  mkdirSync(join(project.root, "seeds"));
  writeFileSync(join(project.root, "seeds/01_jobs.ts"), SEED);
  await project.fw("db seed");
  const ids: Record<"sweep" | "dead" | "old" | "running" | "done", string> = JSON.parse(
    readFileSync(join(project.root, "ids.json"), "utf8"),
  );
  const run = async (command: string, env: Record<string, string> = {}) => {
    const options = { cwd: project.root, env: { ...project.env, ...env } };
    const { code, stdout, stderr } = await fw(`jobs ${command}`, options);
    return [code, stdout + stderr] as const;
  };
  /** Returns the names of the jobs that are listed. */
  const listed = async (filter = "") => {
    const jobs: { id: string }[] = JSON.parse((await run(`list --json ${filter}`))[1]);
    return jobs.map((job) => Object.entries(ids).find(([, id]) => id === job.id)?.[0]);
  };
  return {
    root: project.root,
    ids,
    run,
    listed,
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

for (const db of ["sqlite", "postgres", "mysql"] as const) {
  const skip = db === "sqlite" ? undefined : SERVERS[db].skip;
  test(`fw jobs lists, shows, retries, cancels and purges jobs on ${db}`, async () => {
    await using project = await projectWithJobs(db);
    const { ids, run, listed } = project;

    assert.deepEqual(await listed(), ["done", "running", "old", "dead", "sweep"]);
    assert.deepEqual(await listed("--state dead,running"), ["running", "old", "dead"]);
    assert.deepEqual(await listed("--name sweep --limit 2"), ["done", "running"]);
    assert.deepEqual(await listed(`--name sweep --before ${ids.running}`), ["sweep"]);
    const [, list] = await run("list --state dead --limit 1");
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
    const reason = String.raw`Error: the mail\\u001b\[2J server; answers: no( no){3,} ?n?…`;
    assert.match(
      list,
      new RegExp(
        `^ID +KIND +STATE  RUNS  TIME +REASON\n${ids.old}  send-receipt  dead +4 +${time}  ` +
          `${reason}\n$`,
      ),
    );
    assert.doesNotMatch(list, /bob/);
    assert.doesNotMatch((await run("list --json"))[1], /@example|step/);

    const [, shown] = await run(`show ${ids.dead}`);
    const lines = shown.trim().split("\n").map((line) => line.split(/ {2,}/));
    const facts = Object.fromEntries(lines.map(([name, ...fact]) => [name, fact.join("  ")]));
    assert.deepEqual(
      { ...facts, enqueued: "", due: "", ended: "", reason: "" },
      {
        id: ids.dead,
        kind: "send-receipt",
        state: "dead",
        priority: "0",
        runs: "4",
        enqueued: "",
        due: "",
        ended: "",
        reason: "",
        progress: '{"step":1}',
        trace: `${"ab".repeat(16)} ${"cd".repeat(8)}`,
        payload: '{"email":"ada@example.org"}',
      },
    );
    assert.match(facts["reason"] ?? "", /^Error: the mail\\u001b\[2J server; answers: (no ?){30}$/);
    const shownJson = JSON.parse((await run(`show ${ids.dead} --json`))[1]);
    assert.deepEqual(shownJson.body, { email: "ada@example.org" });

    // all or none
    assert.deepEqual(await run(`retry ${ids.dead} ${ids.sweep}`), [
      1,
      `error: Cannot retry job ${ids.sweep}: it is ready\n`,
    ]);
    assert.deepEqual(await listed("--state ready"), ["sweep"]);
    assert.deepEqual(await run(`retry ${ids.dead}`), [0, `retried ${ids.dead}\n`]);
    assert.deepEqual(await run(`cancel ${ids.dead} ${ids.running}`), [
      0,
      `cancelled ${ids.dead}\ncancelling ${ids.running}, at the next heartbeat of its run\n`,
    ]);
    assert.deepEqual(await run(`cancel ${ids.dead}`), [
      1,
      `error: Cannot cancel job ${ids.dead}: it is cancelled\n`,
    ]);
    assert.deepEqual(await run("retry --dead --name sweep --yes"), [0, "retried 0 jobs\n"]);
    assert.deepEqual(await run("retry --dead --name send-receipt --yes"), [0, "retried 1 job\n"]);
    assert.deepEqual(await listed("--state ready"), ["old", "sweep"]);

    assert.deepEqual(await run("purge --state dead --before 1h --yes"), [0, "purged 0 jobs\n"]);
    assert.deepEqual(await run("purge --state done,cancelled --before 2d --yes"), [
      0,
      "purged 1 job\n",
    ]);
    assert.deepEqual(await listed(), ["running", "old", "dead", "sweep"]);
  }, { skip, slow: db !== "sqlite" && "long" });
}

test("fw jobs retry and cancel change all jobs or none, if one fails after others", async () => {
  await using project = await projectWithJobs("sqlite");
  const { ids, root, run, listed } = project;
  const failing = (id: string) => {
    using database = new DatabaseSync(join(root, "data/data.sqlite"));
    database.exec("drop trigger if exists failing");
    database.exec(`create trigger failing before update on fw_jobs when new.id = '${id}'
      begin select raise(abort, 'it fails'); end`);
  };
  for (
    const [failingId, command] of [
      [ids.old, `retry ${ids.dead} ${ids.old}`],
      [ids.dead, "retry --dead --yes"], // the newest first
      [ids.dead, "retry --dead --name send-receipt --yes"],
      [ids.running, `cancel ${ids.sweep} ${ids.running}`],
    ] as const
  ) {
    failing(failingId);
    const [code, output] = await run(command);
    assert.deepEqual([code, output.includes("it fails")], [1, true], output);
    assert.deepEqual(await listed("--state dead"), ["old", "dead"], command);
    assert.deepEqual(await listed("--state ready"), ["sweep"], command);
  }
}, { slow: true });

test("fw jobs asks before it retries and purges, and refuses what it cannot do", async () => {
  await using project = await projectWithJobs("sqlite");
  const { ids, run, listed } = project;
  const production = { FW_ENV: "production" };
  const unknown = "0b0c7a0e-6a0f-4c7b-9f3e-2d1c5b7a9e10";
  const url = "sqlite:data/data.sqlite";
  const noTable = "their table is missing; fw db diff add-jobs writes its migration";
  for (
    const [command, message, env] of [
      [
        "purge --state dead --before 1m",
        `purge jobs of ${url}: the prompt needs a terminal; --yes does so without a prompt`,
      ],
      [
        "purge --state dead --before 1m",
        `purge jobs of ${url}: FW_ENV is production; --yes does so anyway`,
        production,
      ],
      [
        "retry --dead",
        `retry jobs of ${url}: the prompt needs a terminal; --yes does so without a prompt`,
      ],
      [
        "retry --dead",
        `retry jobs of ${url}: FW_ENV is production; --yes does so anyway`,
        production,
      ],
      ["retry", "retry jobs: name ids, or use --dead"],
      [`retry --dead ${ids.dead}`, "retry jobs: name ids, or use --dead"],
      [`retry --name sweep ${ids.dead}`, "retry jobs: --name needs --dead"],
      [`retry ${unknown}`, `retry job ${unknown}: it does not exist`],
      [`cancel ${ids.sweep} ${unknown}`, `cancel job ${unknown}: it does not exist`],
      [`show ${unknown}`, `find job ${unknown}: it does not exist`],
      [`list --before ${unknown}`, `list jobs before ${unknown}: it does not exist`],
      ["list", `read jobs: ${noTable}`, { DATABASE_URL: "sqlite:data/empty.sqlite" }],
      [`show ${unknown}`, `read jobs: ${noTable}`, { DATABASE_URL: "sqlite:data/empty.sqlite" }],
    ] as const
  ) {
    assert.deepEqual(await run(command, env), [1, `error: Cannot ${message}\n`], command);
  }
  assert.deepEqual(await listed("--state dead"), ["old", "dead"]);
  assert.deepEqual(await run("purge --state dead --before 1d --yes", production), [
    0,
    "purged 1 job\n",
  ]);
  assert.deepEqual(await run("list --state scheduled"), [0, "There are no such jobs.\n"]);
  for (
    const [command, message] of [
      [
        "list --state gone",
        `option '--state <states>' argument 'gone' is invalid. Allowed states are `,
      ],
      [
        "list --limit 1001",
        "option '--limit <number>' argument '1001' is invalid. It is not a whole ",
      ],
      [
        "show 7",
        "command-argument value '7' is invalid for argument 'id'. It is not the id of a job",
      ],
      [
        "purge --state ready --before 1d",
        "option '--state <states>' argument 'ready' is invalid. ",
      ],
      [
        "purge --state dead --before 7",
        "option '--before <age>' argument '7' is invalid. It is not ",
      ],
      ["purge --state dead", "required option '--before <age>' not specified"],
    ] as const
  ) {
    const [code, output] = await run(command);
    assert.equal(code, 2);
    assert.ok(output.startsWith(`error: ${message}`), output);
  }
}, { slow: true });

test("fw jobs in a project whose database has no jobs says what to add", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  const { code, stdout, stderr } = await fw("jobs list", { cwd: project.root });
  assert.deepEqual([code, stdout, stderr], [
    1,
    "",
    "error: Cannot use jobs: the service lacks their table; add ...jobTables to its models\n",
  ]);
});
