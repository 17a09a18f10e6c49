/** Processes whose clocks differ. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../src/db/mod.ts";
import { DatabaseClock } from "../../src/jobs/database_clock.ts";
import { tableOf } from "../../src/jobs/database.ts";
import { JOB_TABLE } from "../../src/jobs/outbox/job_table.ts";
import { testOnEach } from "../db/support/database.ts";
import { Subprocess } from "../support/subprocess.ts";
import { Clock, Db } from "./support/jobs_app.ts";

const DAY = 24 * 3_600_000;
const SERVERS = { brands: ["postgres", "mysql"] } as const;

/** The clock of a database, as a process has it whose own clock is wrong. */
async function clockAt(url: string, aheadMs: number) {
  const { now } = Date;
  Date.now = () => now() + aheadMs;
  await using db = await Db.open(DbOptions.fromUrl(url));
  try {
    const clock = new DatabaseClock(tableOf(db, JOB_TABLE)!.connection);
    const own = clock.now();
    const since = now();
    const read = await clock.read();
    return { own: own - now(), read: [since, read, now()], again: clock.now() - read };
  } finally {
    Date.now = now;
  }
}

testOnEach("DatabaseClock has the time of the database once it is read", async ({ url }) => {
  for (const aheadMs of [-400 * DAY, 400 * DAY]) {
    const { own, read: [before = 0, time = 0, after = 0], again } = await clockAt(url, aheadMs);
    assert.ok(Math.abs(own - aheadMs) < 60_000, `${own} ms`);
    assert.ok(time > before - 60_000 && time < after + 60_000, `${before} ${time} ${after}`);
    assert.ok(again >= 0 && again < 60_000, `${again} ms`);
  }
}, SERVERS);

testOnEach("DatabaseClock is that of DbOptions.now, if it is set", async ({ url }) => {
  const { now } = new Clock();
  await using db = await Db.open(DbOptions.fromUrl(url).now(now));
  const clock = new DatabaseClock(tableOf(db, JOB_TABLE)!.connection);
  assert.deepEqual([await clock.read(), clock.date()], [now(), new Date(now())]);
});

testOnEach("a process whose clock is wrong runs no job before its time", async ({ url }) => {
  {
    await using db = await Db.open(DbOptions.fromUrl(url));
    await db.createTables();
  }
  const start = (aheadMs: number) =>
    new Subprocess("tests/jobs/clock_fixture.ts", { args: [url, String(aheadMs)] });
  await using right = start(0);
  await right.until(/working/);
  await using behind = start(-400 * DAY);
  await using ahead = start(400 * DAY);
  await Promise.all([behind.until(/working/), ahead.until(/working/)]);
  await delay(1000); // 20 heartbeats
  for (const { output } of [right, behind, ahead]) assert.doesNotMatch(output, /RAN/);
  await using db = await Db.open(DbOptions.fromUrl(url));
  const jobs = await db.fwJob.findMany({ orderBy: { run_at: "asc" } });
  assert.deepEqual(jobs.map(({ name, state }) => [name, state]), [
    ["remind", "scheduled"],
    ["remind", "scheduled"],
    ["remind", "scheduled"],
    ["schedule:Handlers.report", "scheduled"],
  ]);
  for (const { created_at } of jobs) {
    assert.ok(Math.abs(created_at.getTime() - Date.now()) < 5 * 60_000, created_at.toISOString());
  }
}, { ...SERVERS, slow: true });
