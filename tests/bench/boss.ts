/**
 * `pg-boss`, installed when a benchmark runs.
 *
 * @module
 */
import { build, stop } from "esbuild";
import { type Installed, installPackages } from "./installed.ts";

/** The version that is compared. */
export const BOSS_VERSION = "12.38.0";
const QUEUE = "nothing";

/** Jobs of `pg-boss` in a database. */
export interface Boss extends AsyncDisposable {
  /** Stores a job. */
  send(data: object): Promise<unknown>;
  /** Removes all jobs, and stores others. */
  fill(data: readonly object[]): Promise<void>;
  /** Starts to work jobs off, `take` at a time, without a pause while there are as many. */
  work(take: number, handle: () => void): Promise<void>;
  /** Stops to work jobs off. */
  stopWork(): Promise<void>;
}

// What is used of a package that is not there when this is checked.
interface PgBoss {
  on(event: "error", handle: (error: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean; close: boolean }): Promise<void>;
  createQueue(name: string): Promise<void>;
  deleteAllJobs(name: string): Promise<unknown>;
  getDb(): { executeSql(sql: string): Promise<unknown> };
  send(name: string, data: object): Promise<unknown>;
  insert(name: string, jobs: readonly { data: object }[]): Promise<unknown>;
  work(
    name: string,
    options: { batchSize: number; burstWhenBatchFull: boolean; pollingIntervalSeconds: number },
    handle: (jobs: readonly unknown[]) => Promise<void>,
  ): Promise<unknown>;
  offWork(name: string, options: { wait: boolean }): Promise<void>;
}

interface BossOptions {
  readonly connectionString: string;
  readonly max: number;
  readonly supervise: boolean;
  readonly schedule: boolean;
}

/** Installs `pg-boss`, and creates its tables in a database. */
export async function openBoss(url: string): Promise<Boss> {
  const installed = await installPackages({ "pg-boss": BOSS_VERSION });
  try {
    return await open(url, installed);
  } catch (error) {
    await installed[Symbol.asyncDispose]();
    throw error;
  }
}

async function open(url: string, installed: Installed): Promise<Boss> {
  // as CommonJS: Deno resolves the imports of modules by the import map of the project
  await build({
    absWorkingDir: installed.folder,
    stdin: { contents: 'export { PgBoss } from "pg-boss"', resolveDir: installed.folder },
    outfile: "boss.cjs",
    bundle: true,
    platform: "node",
    external: ["pg-native"],
    logLevel: "error",
  });
  await stop();
  const { PgBoss } = installed.require("./boss.cjs") as {
    readonly PgBoss: new (options: BossOptions) => PgBoss;
  };
  const options = { max: 10, supervise: false, schedule: false };
  const boss = new PgBoss({ connectionString: url, ...options });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  return {
    send: (data) => boss.send(QUEUE, data),
    async fill(data) {
      await boss.deleteAllJobs(QUEUE);
      await boss.insert(QUEUE, data.map((data) => ({ data })));
      await boss.getDb().executeSql("vacuum analyze");
    },
    async work(batchSize, handle) {
      const burst = { burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
      await boss.work(QUEUE, { batchSize, ...burst }, (jobs) => {
        for (const _ of jobs) handle();
        return Promise.resolve();
      });
    },
    stopWork: () => boss.offWork(QUEUE, { wait: true }),
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: false, close: true });
      await installed[Symbol.asyncDispose]();
    },
  };
}
