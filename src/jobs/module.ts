/**
 * Jobs as a module of the application.
 *
 * @module
 */
import { inject } from "../core/module/container.ts";
import { type Module, module } from "../core/module/module.ts";
import { provide } from "../core/module/provider.ts";
import type { JobsDatabaseKey } from "./database.ts";
import { Events } from "./events/events.ts";
import { Idempotency } from "./idempotency/idempotency.ts";
import { Jobs } from "./jobs.ts";
import { checkedOptions, type JobsOptions } from "./jobs_options.ts";

/** Creates modules that provide {@linkcode Jobs} and {@linkcode Events}. */
export class JobsModule {
  /**
   * Returns a module that provides and exports the {@linkcode Jobs} and {@linkcode Events} of a
   * database, whose service has the models `jobTables`. It finds the service and the handlers in
   * all modules of the application. Workers run from `listen` on, or `app.startWorkers()`, until
   * the application stops. With the models `idempotencyTables` as well, routes can be `idempotent`.
   *
   * @example
   * ```ts
   * import { inject, module } from "@fw/fw";
   * import { DbModule, DbOptions, DbService } from "@fw/fw/db";
   * import { job, jobTables, JobsModule } from "@fw/fw/jobs";
   *
   * class Db extends DbService.with({ ...jobTables }) {}
   * const Sweep = job("sweep");
   *
   * class Sweeper {
   *   readonly #db = inject(Db);
   *   sweep = Sweep.handle(async () => console.log(await this.#db.fwJob.count()));
   * }
   * const AppModule = module({
   *   imports: [
   *     DbModule.forRoot(Db, DbOptions.fromUrl("sqlite:data.sqlite")),
   *     JobsModule.forRoot(Db, { concurrency: 4 }),
   *   ],
   *   providers: [Sweeper],
   * });
   * ```
   *
   * @throws {TypeError} if an option is unknown
   * @throws {RangeError} if an option is out of range
   */
  static forRoot(database: JobsDatabaseKey, options: JobsOptions = {}): Module {
    const checked = checkedOptions(options);
    return module({
      name: "JobsModule",
      providers: [
        Events,
        provide(Jobs, () => new Jobs(database, { ...checked, events: inject(Events) })),
        provide(Idempotency, () => new Idempotency(database, checked.idempotency)),
      ],
      exports: [Jobs, Events],
    });
  }
}
