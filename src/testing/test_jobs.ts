/**
 * The jobs of a test application.
 *
 * @module
 */
import type { FwApplication } from "../application/application.ts";
import type { JobInfo } from "../jobs/engine.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { RunOutcome } from "../jobs/worker/runs.ts";

/**
 * The jobs of an application that imports `JobsModule`. No worker runs them, so that a test decides
 * when they do. The clock of delays and retries is that of the database: `DbOptions.now`.
 */
export class TestJobs {
  readonly #app: FwApplication;

  /** Finds the jobs of an application; `createTestApplication` creates it. */
  constructor(app: FwApplication) {
    this.#app = app;
  }

  /**
   * Runs the jobs that are due, one after another, until none is, those that they enqueue included;
   * returns what became of each: `["done", "scheduled"]` if the second has failed and is retried.
   *
   * @throws {TypeError} if the application has no jobs, or inside a transaction
   */
  async drain(): Promise<readonly RunOutcome[]> {
    return await (await this.#jobs()).drain();
  }

  /**
   * Lists the jobs of a kind that wait, in the order in which they were enqueued.
   *
   * @throws {TypeError} if the application has no jobs
   */
  async enqueued(kind: { readonly name: string }): Promise<readonly JobInfo[]> {
    return await (await this.#jobs()).enqueued(kind);
  }

  async #jobs(): Promise<Jobs> {
    const { Jobs } = await import("../jobs/jobs.ts"); // applications without jobs do not load it
    return this.#app.get(Jobs);
  }
}
