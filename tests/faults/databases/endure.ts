/** What the scenarios of databases have in common. */
import { type ExpectedHealth, HealthWatch } from "../health.ts";
import { judge } from "../judge.ts";
import { Load } from "../load.ts";
import type { Given, Outcome } from "../scenario.ts";
import { type Instance, startInstance } from "../server/instance.ts";
import { compare } from "./ledger.ts";

/** A fault of a database, and what an application does meanwhile. */
export interface DatabaseFault {
  /** The database of the application. */
  readonly url: string;
  /** By which URL it is compared in the end; the same by default. */
  readonly comparedUrl?: string;
  /** What health reports during the fault. */
  readonly health: ExpectedHealth;
  /** Breaks the database and repairs it; resolves to how often it did so. */
  inject(running: Running): Promise<number>;
}

/** An application under load. */
export interface Running {
  readonly instance: Instance;
  readonly load: Load;
}

/**
 * Limits that are short, so that a request meets several of them within the time limit of the
 * application, which is 10 s: a wait for a connection, a transaction of twice as much, and the 4 s
 * in which a server that hangs is given up.
 */
const STATEMENT_TIMEOUT_MS = 1_500;
const DEADLINE_MS = 9_500;
/** Wanted is 1 s; a machine that is shared may need longer. */
const MAX_RECOVERY_MS = 5_000;

/** Runs an application under load, and a fault of its database. */
export async function endure(
  { runtime }: Given,
  { url, comparedUrl = url, health: expected, inject }: DatabaseFault,
): Promise<Outcome> {
  const env = { DATABASE_URL: url, STATEMENT_TIMEOUT_MS: String(STATEMENT_TIMEOUT_MS) };
  await using instance = await startInstance(runtime, { env });
  const origin = () => instance.origin;
  await using load = new Load(origin, { deadlineMs: DEADLINE_MS });
  await using health = new HealthWatch(origin);
  await load.succeeded(100);
  const from = performance.now();
  const injected = await inject({ instance, load });
  const to = performance.now();
  const recoveryMs = await load.firstSuccess() - to;
  await load.succeeded(100);
  await load.stop();
  await health.isUp(MAX_RECOVERY_MS);
  const judged = judge(load, { from, to });
  const { lost, failures } = await compare(comparedUrl, load);
  const times = load.answers.map(({ sentAt, answeredAt }) => answeredAt - sentAt);
  const refused = load.answers.filter(({ status }) => status === 503).length;
  return {
    injected,
    ...judged,
    lost,
    recoveryMs,
    note: `503: ${refused}, slowest answer ${Math.round(Math.max(...times))} ms`,
    failures: [
      ...judged.failures,
      ...health.judge(expected, { from, to }),
      ...failures,
      ...recoveryMs > MAX_RECOVERY_MS ? [`recovered after ${Math.round(recoveryMs)} ms`] : [],
    ],
  };
}
