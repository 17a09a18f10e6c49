import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { configureSync, getConfig, getLogger, type LogRecord, resetSync } from "@logtape/logtape";
import { job } from "../../src/jobs/mod.ts";
import { logToConsole } from "../../src/runtime/log/console_log.ts";
import { test } from "../support/test.ts";
import { jobsApp } from "./support/jobs_app.ts";

const Send = job("send");

/** Runs two jobs at the same time that log; returns their ids, and the lines by their messages. */
async function logged(contextLocalStorage: AsyncLocalStorage<Record<string, unknown>> | undefined) {
  const records: LogRecord[] = [];
  const send = Send.handle(async (_, run) => {
    await delay(5);
    getLogger("shop").info(run.id, { order: 1 });
  });
  await using app = await jobsApp("sqlite::memory:", { handlers: { send } });
  configureSync({
    reset: true, // another file of the process may have opened the log
    ...contextLocalStorage && { contextLocalStorage },
    sinks: { memory: (record) => void records.push(record) },
    loggers: [
      { category: [], sinks: ["memory"], lowestLevel: "info" },
      { category: ["logtape", "meta"], sinks: ["memory"], lowestLevel: "warning" },
    ],
  });
  try {
    const ids = [await Send.enqueue(), await Send.enqueue()];
    await Promise.all([app.jobs.drain(), app.jobs.drain()]);
    const found = records.filter(({ category }) => category[0] !== "fw");
    return {
      ids: ids.toSorted(),
      lines: found.map(({ rawMessage, properties }) => [String(rawMessage), properties] as const)
        .toSorted(([a], [b]) => a < b ? -1 : 1),
    };
  } finally {
    resetSync();
  }
}

test("log lines of a run have the name and the id of its job", async () => {
  const { ids, lines } = await logged(new AsyncLocalStorage());
  assert.deepEqual(lines, ids.map((id) => [id, { order: 1, job: "send", jobId: id }]));
});

test("log lines of a run are as they were if LogTape has no contextLocalStorage", async () => {
  const { ids, lines } = await logged(undefined);
  assert.deepEqual(lines, ids.map((id) => [id, { order: 1 }])); // and no warning of LogTape
});

test("the log of an application that does not configure LogTape keeps the context", async () => {
  await using app = await jobsApp("sqlite::memory:");
  resetSync();
  logToConsole();
  try {
    const { contextLocalStorage } = getConfig()!;
    const inside = contextLocalStorage!.run({ job: "send" }, () => contextLocalStorage!.getStore());
    assert.deepEqual([inside, app.jobs !== undefined], [{ job: "send" }, true]);
    assert.equal(contextLocalStorage!.getStore(), undefined);
  } finally {
    resetSync();
  }
});
