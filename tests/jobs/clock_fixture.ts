/**
 * Runs jobs, none of which is due, by a clock that is wrong. Its arguments: the URL of the database,
 * and how far the clock is ahead, in milliseconds.
 */
import process from "node:process";
import { FwFactory, module } from "../../mod.ts";
import { DbModule, DbOptions } from "../../src/db/mod.ts";
import { job, Jobs, JobsModule, schedule } from "../../src/jobs/mod.ts";
import { Db } from "./support/jobs_app.ts";

const [, , url = "", aheadMs] = process.argv;
const { now } = Date;
const inAnHour = new Date(now() + 3_600_000);
const inHalfAYear = new Date(now() + 183 * 24 * 3_600_000);
Date.now = () => now() + Number(aheadMs);

const Remind = job("remind");

class Handlers {
  remind = Remind.handle(() => console.log("RAN the reminder"));
  report = schedule(`0 0 1 ${inHalfAYear.getUTCMonth() + 1} *`, ({ dueAt }) => {
    console.log(`RAN the report of ${dueAt.toISOString()}`);
  });
}

const app = await FwFactory.create(module({
  name: "AppModule",
  imports: [
    DbModule.forRoot(Db, DbOptions.fromUrl(url)),
    JobsModule.forRoot(Db, { pollMs: 20, leaseMs: 250 }),
  ],
  providers: [Handlers],
}));
await app.get(Jobs).enqueue(Remind, undefined, { runAt: inAnHour });
await app.startWorkers();
console.log("working");
