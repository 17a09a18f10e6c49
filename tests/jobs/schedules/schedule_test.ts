import assert from "node:assert/strict";
import { FwFactory, module } from "../../../mod.ts";
import { DbModule, DbOptions } from "../../../src/db/mod.ts";
import { JobsModule, type Schedule, schedule } from "../../../src/jobs/mod.ts";
import { timesOf } from "../../../src/jobs/schedules/times.ts";
import { ScheduleKind } from "../../../src/jobs/schedules/schedule_kind.ts";
import { settingsOf } from "../../../src/jobs/run_options.ts";
import { test } from "../../support/test.ts";
import { Db, jobsApp } from "../support/jobs_app.ts";

const nothing = () => {};

/** Lists times of a pattern after another one, as ISO 8601 without seconds. */
async function times(
  pattern: string,
  { timeZone = "UTC", after, count }: { timeZone?: string; after: string; count: number },
): Promise<string[]> {
  const kind = new ScheduleKind("test", { pattern, timeZone, settings: settingsOf({}) });
  const nextTime = (await timesOf([kind])).get(kind.name)!;
  const found: string[] = [];
  let time = Date.parse(after);
  for (let n = 0; n < count; n++) {
    time = nextTime(time);
    found.push(new Date(time).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

test("schedule() refuses patterns, time zones, names and options that are invalid", () => {
  const fields = 'the pattern is not of 5 fields, 6 with seconds, or one such as "@daily"';
  const zone = (timeZone: unknown) => () => schedule("@daily", { timeZone } as never, nothing);
  const refused: readonly [declare: () => unknown, message: string][] = [
    [() => schedule("0 3 * *", nothing), `"0 3 * *": ${fields}`],
    [() => schedule("0 0 3 * * * 2030", nothing), `"0 0 3 * * * 2030": ${fields}`],
    [() => schedule("2030-01-01T00:00:00", nothing), `"2030-01-01T00:00:00": ${fields}`],
    [() => schedule("@reboot", nothing), `"@reboot": ${fields}`],
    [() => schedule("", nothing), `"": ${fields}`],
    [() => schedule(5 as never, nothing), `5: ${fields}`],
    [zone("Europe/Nowhere"), '"@daily": "Europe/Nowhere" is not a time zone'],
    [zone("+02:00"), '"@daily": "+02:00" is not a time zone'],
    [zone(1), '"@daily": 1 is not a time zone'],
    [
      () => schedule("@daily", { name: "a b" }, nothing),
      '"a b": a name has 1 to 100 letters, digits, ".", "_" and "-"',
    ],
    [
      () => schedule("@daily", { globalConcurrency: 2 } as never, nothing),
      '"@daily": globalConcurrency is not an option',
    ],
    [() => schedule("@daily", {} as never), '"@daily": the handler is not a function'],
    [
      () => schedule("@daily", { backoff: "none" as never }, nothing),
      '"@daily": backoff is not "exponential", "fixed" or a function',
    ],
  ];
  for (const [declare, message] of refused) {
    assert.throws(declare, new TypeError(`Cannot declare schedule ${message}`));
  }
  assert.throws(
    () => schedule("@daily", { retries: -1 }, nothing),
    new RangeError('Cannot declare schedule "@daily": retries is not a whole number of 0 or more'),
  );
});

test("boot fails where a pattern has an invalid field or no time, or a name is not unique", async () => {
  const refused: readonly [Record<string, Schedule>, RegExp][] = [
    [
      { sweep: schedule("60 * * * *", nothing) },
      /^Cannot run schedule:Handlers\.sweep at "60 \* \* \* \*": .*minute.*60/,
    ],
    [
      { sweep: schedule("0 0 30 2 *", nothing) },
      /^Cannot run schedule:Handlers\.sweep at "0 0 30 2 \*": the pattern matches no time$/,
    ],
    [
      {
        one: schedule("@daily", { name: "sweep" }, nothing),
        two: schedule("@hourly", { name: "sweep" }, nothing),
      },
      /^Cannot handle schedule:sweep: Handlers\.one and Handlers\.two both do$/,
    ],
    [
      { "a b": schedule("@daily", nothing) },
      /^Cannot declare schedule "Handlers\.a b": a name has 1 to 100 letters/,
    ],
  ];
  for (const [handlers, message] of refused) {
    await assert.rejects(jobsApp("sqlite::memory:", { handlers }), { name: "TypeError", message });
  }
});

test("an application that is a preview reads no schedule", async () => {
  class Receipts {
    sweep = schedule("60 * * * *", nothing);
  }
  const AppModule = module({
    imports: [
      DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")),
      JobsModule.forRoot(Db),
    ],
    providers: [Receipts],
  });
  await FwFactory.create(AppModule, { preview: true });
});

test("the times of a pattern are those of its time zone; seconds and names are patterns", async () => {
  const table: readonly [pattern: string, timeZone: string, times: string[]][] = [
    ["0 3 * * *", "UTC", ["2026-01-01T03:00Z", "2026-01-02T03:00Z"]],
    ["0 3 * * *", "Europe/Paris", ["2026-01-01T02:00Z", "2026-01-02T02:00Z"]],
    ["0 9 * * mon-fri", "America/New_York", ["2026-01-01T14:00Z", "2026-01-02T14:00Z"]],
    ["*/20 * * * * *", "UTC", ["2026-01-01T00:00:20.000Z", "2026-01-01T00:00:40.000Z"]],
    ["0 0 L * *", "UTC", ["2026-01-31T00:00Z", "2026-02-28T00:00Z"]],
    ["0 0 13 * 5", "UTC", ["2026-01-02T00:00Z", "2026-01-09T00:00Z"]],
    ["@hourly", "UTC", ["2026-01-01T01:00Z", "2026-01-01T02:00Z"]],
    ["@daily", "UTC", ["2026-01-02T00:00Z", "2026-01-03T00:00Z"]],
    ["@weekly", "UTC", ["2026-01-04T00:00Z", "2026-01-11T00:00Z"]],
    ["@monthly", "UTC", ["2026-02-01T00:00Z", "2026-03-01T00:00Z"]],
    ["@yearly", "UTC", ["2027-01-01T00:00Z", "2028-01-01T00:00Z"]],
  ];
  for (const [pattern, timeZone, expected] of table) {
    const found = await times(pattern, { timeZone, after: "2026-01-01T00:00:00Z", count: 2 });
    assert.deepEqual(found, expected, pattern);
  }
});

test("clock changes: a skipped time is at their end, a repeated one is the first", async () => {
  const spring = "2026-03-28T12:00:00Z"; // at 01:00 UTC of the 29th, 02:00 becomes 03:00
  const autumn = "2026-10-24T12:00:00Z"; // at 01:00 UTC of the 25th, 03:00 becomes 02:00
  const table: readonly [pattern: string, after: string, times: string[]][] = [
    ["30 2 * * *", spring, ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]],
    ["0 2 * * *", spring, ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]],
    ["0 3 * * *", spring, ["2026-03-29T01:00Z", "2026-03-30T01:00Z"]],
    ["30 2 * * *", autumn, ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]],
    ["0 3 * * *", autumn, ["2026-10-25T02:00Z", "2026-10-26T02:00Z"]],
    ["30 2 * * *", "2026-10-25T01:15:00Z", ["2026-10-26T01:30Z", "2026-10-27T01:30Z"]],
    // several fixed times
    ["30 2,14 * * *", spring, ["2026-03-28T13:30Z", "2026-03-29T01:00Z", "2026-03-29T12:30Z"]],
    ["30 2,14 * * *", autumn, ["2026-10-24T12:30Z", "2026-10-25T00:30Z", "2026-10-25T13:30Z"]],
    ["0,30 2 * * *", spring, ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]],
    ["0,30 2 * * *", autumn, ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-26T01:00Z"]],
    ["30 1-3 * * *", "2026-10-25T00:40:00Z", ["2026-10-25T02:30Z", "2026-10-26T00:30Z"]],
    // several times an hour: as the real time passes, neither twice nor missing
    ["*/30 * * * *", "2026-03-29T00:15:00Z", ["2026-03-29T00:30Z", "2026-03-29T01:00Z"]],
    ["*/30 * * * *", "2026-10-25T00:15:00Z", ["2026-10-25T00:30Z", "2026-10-25T01:00Z"]],
    ["@hourly", "2026-03-29T00:30:00Z", ["2026-03-29T01:00Z", "2026-03-29T02:00Z"]],
    ["@hourly", "2026-10-25T00:30:00Z", ["2026-10-25T01:00Z", "2026-10-25T02:00Z"]],
  ];
  for (const [pattern, after, expected] of table) {
    const found = await times(pattern, { timeZone: "Europe/Paris", after, count: expected.length });
    assert.deepEqual(found, expected, `${pattern} after ${after}`);
  }
});
