/**
 * The relay of jobs to BullMQ on Redis. It is an entry point of its own, so that bundles of other
 * applications have neither `bullmq` nor `ioredis`.
 *
 * @example
 * ```ts
 * import { DbService } from "@fw/fw/db";
 * import { JobsModule, jobTables } from "@fw/fw/jobs";
 * import { bullmq } from "@fw/fw/jobs/bullmq";
 *
 * class Db extends DbService.with({ ...jobTables }) {}
 *
 * const relay = bullmq({ connection: { url: "redis://localhost:6379" }, queue: "shop" });
 * const QueueModule = JobsModule.forRoot(Db, { relay });
 * ```
 *
 * @module
 */
import type { Job, Queue, Worker } from "bullmq";
import { getLogger } from "@logtape/logtape";
import { lazy } from "../../platform/lazy.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";
import { within, withTimeLimit } from "../../platform/time_limit.ts";
import type { DueJob } from "../engine.ts";
import type { JobConsumer, JobQueue, JobRelay } from "./relay.ts";

/** The connections to Redis: the options of `ioredis`, and `url`. */
export interface BullmqConnection {
  /** The URL, such as `rediss://user:password@redis.example.com:6379/0`. */
  readonly url?: string | undefined;
  /** An option of `ioredis`, such as `host`, `port`, `tls` or `sentinels`. */
  readonly [option: string]: unknown;
}

/** Options of {@linkcode bullmq}. */
export interface BullmqOptions {
  /** The connections, or a function that returns them, called when workers start. */
  readonly connection: BullmqConnection | (() => BullmqConnection);
  /** The name of the queue, without `:`; default `fw-jobs`. Applications need one each. */
  readonly queue?: string;
  /** The prefix of the keys; default `bull`. Behind the proxy of a cluster, in braces: `{bull}`. */
  readonly prefix?: string;
}

/** How long Redis may take to answer, in milliseconds. */
const ANSWER_MS = 5000;
/** How long Redis may take to answer at the close of a connection, in milliseconds. */
const CLOSE_MS = 1000;
/** The wait before another attempt to connect, in milliseconds. */
const RETRY_MS = 1000;
/** The lowest priority of BullMQ; 1 is the highest. */
const LOWEST = 2 ** 21;

// bundlers accept a missing package only if its import is caught here
const library = lazy(async (): Promise<Library> => {
  await import("ioredis").catch(notInstalled); // BullMQ loads it later
  return await import("bullmq").catch(notInstalled);
});

/**
 * Relays jobs to a queue of BullMQ, whose workers run them: the option `relay` of
 * `JobsModule.forRoot`. The `jobId` is the id of the job. It needs the packages `bullmq` and
 * `ioredis`, which are loaded when workers start.
 *
 * @throws {TypeError} if an option is unknown or invalid
 */
export function bullmq(options: BullmqOptions): JobRelay {
  const refuse = refusing("relay jobs");
  checkNames(options, { known: ["connection", "queue", "prefix"], refuse });
  const { connection, queue = "fw-jobs", prefix = "bull" } = options;
  if (typeof connection !== "function" && (typeof connection !== "object" || !connection)) {
    refuse("connection is neither options of ioredis nor a function");
  }
  // of a client, BullMQ would read no address, and connect to this machine
  const ensureOptions = (chosen: object) => {
    if ("duplicate" in chosen) refuse("connection is a client of ioredis; pass its options");
  };
  ensureOptions(connection);
  if (typeof queue !== "string" || queue === "" || queue.includes(":")) {
    refuse('queue is not a text without ":"');
  }
  return {
    async open() {
      const chosen = typeof connection === "function" ? connection() : connection;
      ensureOptions(chosen);
      return new BullmqQueue(await library(), {
        name: queue,
        connection: { retryStrategy: () => RETRY_MS, reconnectOnError: isReadOnly, ...chosen },
        prefix,
      });
    },
  };
}

/** What a {@linkcode BullmqQueue} connects to. */
interface BullmqTarget {
  readonly name: string;
  readonly connection: BullmqConnection;
  readonly prefix: string;
}

/** The module `bullmq`. */
type Library = typeof import("bullmq");

/** A queue of BullMQ. */
class BullmqQueue implements JobQueue {
  readonly #library: Library;
  readonly #target: BullmqTarget;
  readonly #queue: Queue;
  #worker: Worker | undefined;
  /** The jobs of this process whose ends Redis does not have yet. */
  readonly #unfinished = new Map<string, PromiseWithResolvers<void>>();
  #pending: Promise<unknown> | undefined;
  /** When the pending command was sent, or last sent again over new connections. */
  #silentSinceMs = 0;
  /** What was logged since it last worked. */
  readonly #logged = new Set<"away" | "refusing">();

  constructor(library: Library, target: BullmqTarget) {
    this.#library = library;
    this.#target = target;
    this.#queue = new library.Queue(target.name, this.#options());
    this.#queue.on("error", (error: Error) => this.#warn(error));
  }

  /** Adds jobs. */
  async add(jobs: readonly DueJob[]): Promise<number> {
    const adding = jobs.map(({ id, name, priority }) => ({
      name,
      data: {},
      opts: {
        jobId: id,
        priority: Math.min(Math.max(LOWEST / 2 - priority, 1), LOWEST),
        removeOnComplete: true, // or it could not be added again
        removeOnFail: true,
      },
    }));
    const added: readonly Job[] = await this.#send(() => this.#queue.addBulk(adding));
    this.#logged.clear();
    return added.length;
  }

  /** Counts the jobs that wait; fails also if the worker's connection does not answer. */
  count(): Promise<number> {
    return this.#send(async () => {
      await this.#worker?.getBackend().isMaxed();
      return await this.#queue.count();
    });
  }

  /** Starts a worker. */
  consume({ concurrency, leaseMs, run }: JobConsumer): void {
    const processor = async ({ id = "", name }: Job) => {
      this.#unfinished.set(id, Promise.withResolvers());
      await run({ id, name });
    };
    const worker = new this.#library.Worker(this.#target.name, processor, {
      ...this.#options(),
      concurrency,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: Number.MAX_SAFE_INTEGER, // the table counts the runs that are lost
      runRetryDelay: RETRY_MS,
    });
    worker.on("error", (error: Error) => this.#warn(error));
    worker.on("completed", ({ id }: Job) => this.#finish(id));
    worker.on("failed", (job: Job | undefined) => this.#finish(job?.id));
    this.#worker = worker;
  }

  /** Fetches no more jobs. */
  pause(): void {
    void this.#worker?.pause(true);
  }

  /** Closes the connections. */
  async close(limitMs: number): Promise<void> {
    const finished = Promise.all(Array.from(this.#unfinished.values(), ({ promise }) => promise));
    await within(finished, Math.min(limitMs, CLOSE_MS));
    await this.#worker?.close(true); // without it, a worker waits for a Redis that is away
    await this.#queue.getBackend().close(true);
  }

  /** Sends a command, unless the last one has no answer: while Redis is away, they are kept. */
  async #send<T>(command: () => Promise<T>): Promise<T> {
    if (this.#pending) {
      this.#reconnect();
      throw new Error("Redis does not answer");
    }
    const pending = command().finally(() => this.#pending = undefined);
    this.#pending = pending;
    pending.catch(() => {}); // also if it fails after the time limit
    this.#silentSinceMs = performance.now();
    const answer = await withTimeLimit(pending, ANSWER_MS);
    this.#logged.delete("away"); // a read-only or full Redis answers too
    return answer;
  }

  /** Opens new connections in place of those that are silent: they can stay so for ever. */
  #reconnect(): void {
    const nowMs = performance.now();
    if (nowMs - this.#silentSinceMs < ANSWER_MS) return;
    this.#silentSinceMs = nowMs;
    const reconnect = (client: { disconnect(reconnect: boolean): void }) => client.disconnect(true);
    // BullMQ reconnects the connection on which a worker waits for jobs
    for (const owner of [this.#queue, this.#worker]) {
      void owner?.getBackend().client.then(reconnect, () => {});
    }
  }

  #finish(id = ""): void {
    this.#unfinished.get(id)?.resolve();
    this.#unfinished.delete(id);
  }

  #options() {
    const { connection, prefix } = this.#target;
    return { connection: { ...connection } as { url?: string }, prefix };
  }

  /** Logs the first failure since Redis was reached, and the first refusal since it took jobs. */
  #warn(error: Error & { readonly code?: string }): void {
    const failure = error.name === "ReplyError" ? "refusing" : "away";
    if (this.#logged.has(failure)) return;
    this.#logged.add(failure);
    const reason = error.message || error.code; // not its command, which can have the password
    getLogger(["fw", "jobs"]).warn("The relay of jobs to Redis has failed: {reason}", { reason });
  }
}

/** Checks whether the server has become a replica: its address may now be of another primary. */
function isReadOnly({ message }: Error): boolean {
  return message.includes("READONLY");
}

function notInstalled(cause: unknown): never {
  throw new TypeError("Cannot relay jobs: npm install bullmq ioredis", { cause });
}
