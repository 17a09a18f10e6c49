/** Stops an instance while it works. */
import { setTimeout as delay } from "node:timers/promises";
import { createDatabase, SERVERS } from "../../db/support/servers.ts";
import { RawClient } from "../../runtime/raw_client.ts";
import { compare } from "../databases/ledger.ts";
import { type Answer, describeFailure, Load } from "../load.ts";
import { Random } from "../random.ts";
import { type Given, type Outcome, skipped } from "../scenario.ts";
import { type Instance, startInstance } from "../server/instance.ts";
import { beginLong } from "./long_requests.ts";

/** The default of the application. */
const LAME_DUCK_MS = 500;
/** How much longer anything may take on a machine that is shared, in milliseconds. */
const SLACK_MS = 10_000;
/**
 * How many connections may be reset in one stop: each of the 8 clients can connect at the moment in
 * which the listener is closed, and is refused afterwards.
 */
const MAX_RESETS = 8;
const STOPS = 20;
const QUICK_STOPS = 1;

/** How a process has ended. */
interface Stop {
  readonly tookMs: number;
  readonly failures: readonly string[];
}

/** Every request of a load gets its answer, unless its connection is refused after the lame duck. */
export async function stopUnderLoad({ runtime, isQuick, seed }: Given): Promise<Outcome> {
  if (SERVERS.postgres.skip) return skipped(SERVERS.postgres.skip);
  await using database = await createDatabase("postgres");
  const random = new Random(seed);
  const failures: string[] = [];
  const acknowledged = new Set<string>();
  const acknowledgedUsers = new Set<string>();
  const counts = { requests: 0, asExpected: 0 };
  const tookMs: number[] = [];
  let resets = 0;
  const stops = isQuick ? QUICK_STOPS : STOPS;
  for (let stop = 0; stop < stops; stop++) {
    await using instance = await startInstance(runtime, {
      env: { DATABASE_URL: database.url, STATEMENT_TIMEOUT_MS: "9000" },
    });
    await using load = new Load(() => instance.origin);
    await load.succeeded(50);
    const signalled = Promise.withResolvers<void>();
    const long = await beginLong(instance.origin, signalled.promise);
    await load.succeeded(20);
    await delay(random.below(200));
    const signalAt = performance.now();
    signalled.resolve();
    const [stopped, ...ends] = await Promise.all([
      stopInstance(instance, { drainMs: 10_000 }),
      ...long.map(({ ended }) => ended.then(() => undefined, String)),
    ]);
    await load.stop();
    const wrong = load.answers.filter((answer) => !isExpected(answer, signalAt));
    const late = load.answers.filter((answer) => isReset(answer, signalAt)).length;
    resets += late;
    if (late > MAX_RESETS) failures.push(`${late} late connections were reset`);
    const unended = ends.filter((end) => end !== undefined);
    counts.requests += load.answers.length + long.length;
    counts.asExpected += load.answers.length - wrong.length + long.length - unended.length;
    tookMs.push(stopped.tookMs);
    failures.push(...stopped.failures, ...unended, ...wrong.map(describe));
    for (const key of load.acknowledged) acknowledged.add(key);
    for (const email of load.acknowledgedUsers) acknowledgedUsers.add(email);
  }
  const { lost, failures: half } = await compare(database.url, { acknowledged, acknowledgedUsers });
  return {
    injected: stops,
    ...counts,
    lost,
    note: `slowest stop ${Math.round(Math.max(...tookMs))} ms, ${acknowledged.size} orders, ` +
      `${resets} late connections reset`,
    failures: [...new Set([...failures, ...half])].slice(0, 10),
  };
}

/** Requests that never end are cut at the deadline, and the process exits with 0. */
export async function stopStuck({ runtime, isQuick }: Given): Promise<Outcome> {
  if (SERVERS.postgres.skip) return skipped(SERVERS.postgres.skip);
  await using database = await createDatabase("postgres");
  const drainMs = isQuick ? 1_000 : 5_000;
  await using instance = await startInstance(runtime, {
    env: { DATABASE_URL: database.url, DRAIN_MS: String(drainMs) },
  });
  const target = { url: instance.origin, port: Number(new URL(instance.origin).port) };
  using waiting = await RawClient.connect(target);
  waiting.send(["GET /api/slow/wait/60000 HTTP/1.1", "Host: a"]);
  using upload = await RawClient.connect(target);
  upload.send(["POST /api/slow/upload HTTP/1.1", "Host: a", "Content-Length: 8"], "half");
  using events = await RawClient.connect(target);
  events.send(["GET /api/slow/events HTTP/1.1", "Host: a"]);
  await events.until(/id: 1\n/);
  await delay(300);
  const { tookMs, failures } = await stopInstance(instance, { drainMs });
  const answered = [waiting, upload].filter(({ received }) => / 200 /.test(received)).length;
  return {
    injected: 1,
    requests: 3,
    asExpected: 3 - answered,
    note: `stopped in ${Math.round(tookMs)} ms of ${LAME_DUCK_MS + drainMs}`,
    failures: [
      ...failures,
      ...tookMs < drainMs ? [`stopped in ${tookMs} ms, before the deadline`] : [],
      ...answered > 0 ? [`${answered} stuck requests were answered`] : [],
    ],
  };
}

/** Sends SIGTERM; health turns 503 until connections are refused, and the process exits with 0. */
async function stopInstance(
  { origin, process }: Instance,
  { drainMs }: { readonly drainMs: number },
): Promise<Stop> {
  const failures: string[] = [];
  const signalAt = performance.now();
  process.kill("SIGTERM");
  const statuses: number[] = [];
  for (;;) {
    const status = await fetch(`${origin}/health`).then(
      async (response) => {
        await response.body?.cancel();
        return response.status;
      },
      (error) => {
        if (performance.now() < signalAt + LAME_DUCK_MS) {
          failures.push(`health: ${describeFailure(error)}`);
        }
        return undefined;
      },
    );
    if (status === undefined) break;
    statuses.push(status);
    await delay(20);
  }
  const { code, output } = await process.ended;
  const tookMs = performance.now() - signalAt;
  const [first = 0] = statuses.filter((status) => status !== 200);
  if (first !== 503) failures.push(`health was ${statuses} during the stop`);
  if (statuses.lastIndexOf(200) > statuses.indexOf(503)) failures.push("health was up again");
  if (code !== 0) failures.push(`exited with ${code}: ${output.slice(-500)}`);
  if (tookMs > LAME_DUCK_MS + drainMs + SLACK_MS) failures.push(`stopped in ${tookMs} ms`);
  const unexpected = /.*(?:unhandled|uncaught|panicked).*/i.exec(output)?.[0];
  if (unexpected) failures.push(unexpected.slice(0, 300));
  return { tookMs, failures };
}

function isExpected(answer: Answer, signalAt: number): boolean {
  const { status, answeredAt, detail } = answer;
  if (status >= 200 && status < 300) return true;
  const isRefused = /connection refused/i.test(detail);
  return isRefused && answeredAt > signalAt + LAME_DUCK_MS || isReset(answer, signalAt);
}

/** The kernel has accepted the connection at the moment in which the listener was closed. */
function isReset({ status, sentAt, detail }: Answer, signalAt: number): boolean {
  const isLate = status === 0 && sentAt > signalAt + LAME_DUCK_MS;
  return isLate && /reset by peer|closed before message/i.test(detail);
}

function describe({ what, status, detail }: Answer): string {
  return `${what}: ${status || "no answer"} ${detail}`.replace(/"requestId":"[^"]*"/, "");
}
