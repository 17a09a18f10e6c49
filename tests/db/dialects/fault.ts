/** Helpers of the tests of lost connections. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { Db, dbError, testOnEach } from "../support/database.ts";
import { killSessions, type ServerBrand } from "../support/sessions.ts";
import { type TcpLine, tcpLine } from "../support/tcp_line.ts";

export const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
export const EVE = { ...ADA, email: "eve@example.org" };
export const SERVERS = ["postgres", "mysql"] as const;
/** A server that hangs is given up after this time. */
const TIMEOUT_MS = 600;
/** Nothing waits longer than it must: a connection takes some milliseconds, and a driver would wait for seconds. */
const AT_ONCE_MS = 2000;

export interface Fault {
  readonly brand: ServerBrand;
  readonly db: Db;
  readonly line: TcpLine;
  /** Ends all sessions of the database, and waits until the pool can know. */
  readonly kill: () => Promise<void>;
}

export function testFault(name: string, run: (fault: Fault) => Promise<void>): void {
  testOnEach(name, async ({ brand, url }) => {
    assert.ok(brand !== "sqlite");
    await using line = await tcpLine(url);
    const options = DbOptions.fromUrl(line.url).poolMax(4).acquireTimeoutMs(TIMEOUT_MS);
    await using db = await Db.open(options);
    await db.createTables();
    const kill = async () => {
      const killed = line.connections();
      await killSessions(brand, url);
      // A server that sends much, or has much to do, takes its time.
      for (let i = 0; i < 250 && killed.some(({ destroyed }) => !destroyed); i++) await delay(20);
      await delay(100);
    };
    await run({ brand, db, line, kill });
  }, { brands: SERVERS });
}

export const lost = (action: string) =>
  dbError("ConnectionLost", `Cannot ${action}: the database is out of reach`);

/** Checks that the database works at once, on all its connections. */
export async function works(db: Db): Promise<boolean> {
  const startMs = performance.now();
  await db.ping();
  await Promise.all([1, 2, 3, 4, 5, 6].map(() => db.transaction(() => db.user.count())));
  assert.ok(performance.now() - startMs < AT_ONCE_MS, "it works at once");
  return true;
}

/** Runs operations that fail as the connection is lost, through any method of Kysely. */
export async function rejectsAsLost(run: () => Promise<unknown>): Promise<void> {
  const error = await run().then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof DbError, String(error));
  assert.equal(error.code, "ConnectionLost", String(error.cause));
}
