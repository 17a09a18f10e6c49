import assert from "node:assert/strict";
import * as v from "valibot";
import { job } from "../../src/jobs/mod.ts";
import { temporaryFolder } from "../db/support/database.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";
import { jobsApp } from "./support/jobs_app.ts";

const Task = job("task", { body: v.boolean(), retries: 0 });
const MAX_PROCESSES = 10;

for (const [how, what] of [["exit", "exits"], ["throw", "throws where nothing catches it"]]) {
  test(`a job that ${what} is a dead letter after maxLostRuns, and it alone`, async () => {
    await using folder = await temporaryFolder();
    const url = `sqlite:${folder.path("data.sqlite")}`;
    await using app = await jobsApp(url);
    const ids = [];
    for (const isPoisoned of [false, true, false, false]) {
      ids.push(await app.jobs.enqueue(Task, isPoisoned));
    }
    const codes: unknown[] = [];
    while (codes.at(-1) !== 0 && codes.length < MAX_PROCESSES) {
      await using worker = new Subprocess("tests/jobs/poison_fixture.ts", { args: [url, how!] });
      codes.push((await worker.ended).code);
    }
    const jobs = await Promise.all(ids.map((id) => app.jobs.find(id)));
    const found = jobs.map((it) => `${it?.state} ${it?.reason}`);
    const lost = "dead the workers of 3 runs were lost";
    assert.deepEqual(found, ["done null", lost, "done null", "done null"]);
    assert.deepEqual(codes, [1, 1, 1, 0]);
  });
}
