/** Replaces the instances behind a proxy, one after the other, under load. */
import { createDatabase, SERVERS } from "../../db/support/servers.ts";
import { RoundRobinProxy } from "../../deploying/round_robin_proxy.ts";
import { compare } from "../databases/ledger.ts";
import { judge } from "../judge.ts";
import { Load } from "../load.ts";
import { type Given, type Outcome, skipped } from "../scenario.ts";
import { type Instance, startInstance } from "../server/instance.ts";

const ROLLS = 20;
const QUICK_ROLLS = 1;

/** Each new instance serves before an old one stops: every request succeeds. */
export async function roll({ runtime, isQuick }: Given): Promise<Outcome> {
  if (SERVERS.postgres.skip) return skipped(SERVERS.postgres.skip);
  await using database = await createDatabase("postgres");
  await using proxy = await RoundRobinProxy.start();
  const failures: string[] = [];
  const rolls = isQuick ? QUICK_ROLLS : ROLLS;
  const env = { DATABASE_URL: database.url, STATEMENT_TIMEOUT_MS: "9000" };
  const start = () => startInstance(runtime, { env });
  const instances: Instance[] = [await start()];
  instances.push(await start());
  try {
    const route = () => proxy.ports = instances.map(({ origin }) => Number(new URL(origin).port));
    route();
    await using load = new Load(() => proxy.origin);
    await load.succeeded(50);
    for (let count = 0; count < rolls; count++) {
      instances.push(await start());
      route();
      const [old] = instances;
      old?.process.kill("SIGTERM");
      const ending = await old?.process.ended;
      if (ending?.code !== 0) failures.push(`exited with ${ending?.code}: ${ending?.output}`);
      instances.shift();
      route();
      await load.succeeded(20);
    }
    await load.stop();
    const judged = judge(load, { from: -Infinity, to: -Infinity });
    const { lost, failures: half } = await compare(database.url, load);
    return {
      injected: rolls,
      ...judged,
      lost,
      note: `${load.acknowledged.size} orders`,
      failures: [...failures, ...judged.failures, ...half].slice(0, 10),
    };
  } finally {
    for (const instance of instances) await instance[Symbol.asyncDispose]();
  }
}
