import assert from "node:assert/strict";
import { job } from "../../src/jobs/mod.ts";
import { temporaryFolder } from "../db/support/database.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";
import { jobsApp } from "./support/jobs_app.ts";

const Task = job("task", { retries: 0 });
const MAX_PROCESSES = 10;

for (const [how, what] of [["exit", "exits"], ["throw", "throws where nothing catches it"]]) {
  test(`a job that ${what} is a dead letter after maxLostRuns`, async () => {
    await using folder = await temporaryFolder();
    const url = `sqlite:${folder.path("data.sqlite")}`;
    await using app = await jobsApp(url);
    const id = await app.jobs.enqueue(Task, undefined);
    const codes: unknown[] = [];
    while (codes.at(-1) !== 0 && codes.length < MAX_PROCESSES) {
      await using worker = new Subprocess("tests/jobs/poison_fixture.ts", { args: [url, how!] });
      codes.push((await worker.ended).code);
    }
    const found = await app.jobs.find(id);
    assert.equal(`${found?.state} ${found?.reason}`, "dead the workers of 3 runs were lost");
    assert.deepEqual(codes, [1, 1, 1, 0]);
  }, { slow: true });
}
