/** A primary of PostgreSQL and its standby, which it waits for. */
import postgres from "postgres";
import { type OwnServer, type OwnServerOptions, startOwnServer } from "./own_servers.ts";

/** Two servers, which stop at the end of their scope. */
export interface PostgresPair extends AsyncDisposable {
  readonly primary: OwnServer;
  readonly standby: OwnServer;
  /** The URL of both, for the one that takes writes. */
  readonly url: string;
  /** Makes the standby a primary. */
  promote(): Promise<void>;
}

/** Starts a primary, and a standby that has each of its commits. */
export async function startPair(
  options: Pick<OwnServerOptions, "maxRunSeconds"> = {},
): Promise<PostgresPair> {
  const primary = await startOwnServer("postgres", options);
  let standby: OwnServer;
  try {
    standby = await startOwnServer("postgres", { ...options, standbyOf: primary });
  } catch (error) {
    await primary[Symbol.asyncDispose]();
    throw error;
  }
  await ask(primary, "alter system set synchronous_standby_names = '*'");
  await ask(primary, "select pg_reload_conf()");
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join();
  return {
    primary,
    standby,
    url: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`,
    promote: () => ask(standby, "select pg_promote()"),
    async [Symbol.asyncDispose]() {
      await standby[Symbol.asyncDispose]();
      await primary[Symbol.asyncDispose]();
    },
  };
}

async function ask({ url }: OwnServer, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql.unsafe(statement);
  await sql.end({ timeout: 0 });
}
