/** An application whose schedule is due each second, and notes each run. */
import { setTimeout as delay } from "node:timers/promises";
import { type FwApplication, FwFactory, inject, module } from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { JobsModule, jobTables, schedule } from "../../../src/jobs/mod.ts";

/** What runs have done. */
const Tick = model("ticks", { run_id: field.uuid().primaryKey(), due_at: field.timestamp() });

export class TicksDb extends DbService.with({ tick: Tick, ...jobTables }) {}

class Ticks {
  readonly #db = inject(TicksDb);
  tick = schedule("* * * * * *", async ({ dueAt }, run) => {
    await delay(Math.random() * 100);
    const data = [{ run_id: run.id, due_at: dueAt }];
    await this.#db.tick.createMany({ data, skipDuplicates: true });
  });
}

/** Creates the application. */
export async function ticksApp(url: string): Promise<FwApplication> {
  return await FwFactory.create(module({
    name: "AppModule",
    imports: [
      DbModule.forRoot(TicksDb, DbOptions.fromUrl(url)),
      JobsModule.forRoot(TicksDb, { pollMs: 20, leaseMs: 250, maxLostRuns: 1000 }),
    ],
    providers: [Ticks],
  }));
}
