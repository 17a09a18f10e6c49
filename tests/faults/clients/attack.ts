/** What the scenarios of hostile clients have in common. */
import { setTimeout as delay } from "node:timers/promises";
import type { Report } from "../server/hostile_limits.ts";
import type { Given, Outcome } from "../scenario.ts";
import { type Instance, startInstance } from "../server/instance.ts";
import { WireClient } from "../wire_client.ts";

/** What hostile clients do to an application. */
export interface Attack {
  /** By how many MiB its memory may have grown after it. */
  readonly maxGrowthMib: number;
  /** The limit of the application's descriptors. */
  readonly maxOpenFiles?: number;
  /** Attacks; the well-behaved client goes on until it ends. */
  run(instance: Instance): Promise<Attacked>;
}

/** What an attack did. */
export interface Attacked {
  /** The hostile requests, connections or messages. */
  readonly injected: number;
  readonly note?: string;
  readonly failures: readonly string[];
}

/** The longest a well-behaved client may wait for an answer, on a busy machine. */
const LONGEST_ANSWER_MS = 20_000;
const PAUSE_MS = 20;
const WARM_UP_REQUESTS = 200;
/** How long memory may take to be returned. */
const SETTLING_MS = 15_000;
/** How long a server may take to close connections that its clients have left. */
const CLOSING_MS = 60_000;
const MORE_DESCRIPTORS = 16;

/** Attacks an application, while a well-behaved client uses it. */
export async function attack(
  { runtime }: Given,
  { maxGrowthMib, maxOpenFiles, run }: Attack,
): Promise<Outcome> {
  await using instance = await startInstance(runtime, {
    file: "tests/faults/server/clients_application.ts",
    maxRunMs: 900_000,
    ...maxOpenFiles !== undefined && { maxOpenFiles },
  });
  await using client = new WellBehavedClient(instance.origin, 0);
  await client.answered(WARM_UP_REQUESTS);
  await client[Symbol.asyncDispose]();
  const [beforeMib, before] = [instance.memoryMib(), instance.descriptors()];
  await using beside = new WellBehavedClient(instance.origin, PAUSE_MS);
  using peak = new Peak(instance);
  const { injected, note, failures } = await run(instance);
  await beside.answered(10);
  await beside[Symbol.asyncDispose]();
  const afterMib = await settled(instance, beforeMib + maxGrowthMib);
  const after = await leftOpen(instance, before + MORE_DESCRIPTORS);
  const { mib: peakMib } = peak;
  const memory = `memory ${Math.round(beforeMib)} to ${Math.round(afterMib)} MiB`;
  return {
    injected,
    requests: beside.requests,
    asExpected: beside.asExpected,
    note: [
      ...note === undefined ? [] : [note],
      `${memory}, at most ${Math.round(peakMib)}`,
      `slowest answer beside it ${Math.round(beside.slowestMs)} ms`,
    ].join(", "),
    failures: [
      ...new Set(failures),
      ...new Set(beside.failures),
      ...afterMib - beforeMib > maxGrowthMib ? [`${memory}: more than ${maxGrowthMib} MiB`] : [],
      ...after > before + MORE_DESCRIPTORS ? [`descriptors ${before} to ${after}`] : [],
      ...await reportOf(instance),
      ...instance.unexpectedOutput(),
    ].slice(0, 20),
  };
}

/** Returns what was reached, or changed, that should not be. */
async function reportOf({ origin }: Instance): Promise<readonly string[]> {
  const { reached, isPolluted }: Report = await (await fetch(`${origin}/report`)).json();
  return [
    ...reached.map((name) => `${name} was reached`),
    ...isPolluted ? ["a prototype was changed"] : [],
  ];
}

/** Waits until the memory is below a bound, for a while; requests make the runtime collect. */
async function settled(instance: Instance, boundMib: number): Promise<number> {
  const end = performance.now() + SETTLING_MS;
  using wire = new WireClient(instance.origin);
  while (instance.memoryMib() > boundMib && performance.now() < end) {
    await wire.send({ target: "/open" });
    await delay(5);
  }
  return instance.memoryMib();
}

/** Waits until there are no more descriptors than a bound, for a while; returns how many there are. */
async function leftOpen(instance: Instance, bound: number): Promise<number> {
  const end = performance.now() + CLOSING_MS;
  while (instance.descriptors() > bound && performance.now() < end) await delay(50);
  return instance.descriptors();
}

/** The largest memory of a process. */
class Peak implements Disposable {
  mib: number;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(instance: Instance) {
    this.mib = instance.memoryMib();
    this.#timer = setInterval(() => {
      try {
        this.mib = Math.max(this.mib, instance.memoryMib());
      } catch {
        clearInterval(this.#timer); // the process has ended, which the outcome says
      }
    }, 100);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Reads and writes like any other client, on a connection that is kept alive. */
class WellBehavedClient implements AsyncDisposable {
  requests = 0;
  asExpected = 0;
  slowestMs = 0;
  readonly failures: string[] = [];
  readonly #asking: Promise<void>;
  #isRunning = true;

  constructor(origin: string, pauseMs: number) {
    this.#asking = this.#ask(origin, pauseMs);
  }

  /** Waits for the answers to so many more requests. */
  async answered(count: number): Promise<void> {
    const enough = this.asExpected + count;
    while (this.asExpected < enough && this.failures.length === 0) await delay(5);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isRunning = false;
    await this.#asking;
  }

  async #ask(origin: string, pauseMs: number): Promise<void> {
    using wire = new WireClient(origin, { deadlineMs: LONGEST_ANSWER_MS });
    for (; this.#isRunning; this.requests++) {
      const sentAt = performance.now();
      const answer = await wire.send(
        this.requests % 2 === 0 ? { target: "/open" } : {
          method: "POST",
          target: "/input/json",
          lines: ["Content-Type: application/json"],
          body: '{"name":"Tom"}',
        },
      );
      this.slowestMs = Math.max(this.slowestMs, performance.now() - sentAt);
      if (answer.status === 200) this.asExpected += 1;
      else this.failures.push(`a well-behaved client got ${answer.status} ${answer.error ?? ""}`);
      await delay(pauseMs);
    }
  }
}
