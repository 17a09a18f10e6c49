/** A real PgBouncer on loopback, before the PostgreSQL server of the tests. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { findOnPath } from "../../../src/cli/system/programs.ts";
import { freePort } from "../../support/free_port.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { SERVERS } from "./servers.ts";

const DEBIAN = "/usr/sbin/pgbouncer"; // which is not on the PATH of users
const PROGRAM = process.env.PGBOUNCER_PATH ?? findOnPath("pgbouncer") ??
  (existsSync(DEBIAN) ? DEBIAN : undefined);

/** Why the tests with PgBouncer are skipped, if they are. */
export const SKIP_PGBOUNCER: string | undefined = SERVERS.postgres.skip ??
  (PROGRAM === undefined ? "no PgBouncer: set PGBOUNCER_PATH or install pgbouncer" : undefined);

/** For how long a client has the connection of the server that it was given. */
export type PoolMode = "session" | "transaction";

/** A running PgBouncer. */
export interface PgBouncer extends AsyncDisposable {
  /** Reports how it has ended, if by itself: PgBouncer 1.18 can fail an assertion of its own. */
  crash(): string | undefined;
  /** Returns the URL of a database of the server, by way of the pooler. */
  url(databaseUrl: string): string;
}

/** Starts PgBouncer with its defaults and other settings, and few connections to the server. */
export async function startPgBouncer(mode: PoolMode, settings = ""): Promise<PgBouncer> {
  const folder = new TemporaryFolder();
  const port = await freePort();
  const { hostname, port: serverPort, username } = new URL(SERVERS.postgres.url);
  const file = join(folder.path, "pgbouncer.ini");
  const isRoot = process.getuid?.() === 0; // PgBouncer refuses to be
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort || 5432} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${mode === "session" ? 20 : 4}
${isRoot ? "user = nobody" : ""}
${settings}
`,
  );
  chmodSync(folder.path, 0o755);
  const child = spawn(PROGRAM ?? "pgbouncer", ["-q", file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text) => log = (log + text).slice(-4_000));
  const ended = once(child, "exit");
  await isListening(port);
  return {
    crash() {
      const end = child.signalCode ?? child.exitCode;
      return end === null ? undefined : `PgBouncer has ended: ${end}
${log}`;
    },
    url(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      return url.href;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM"); // at once, whoever is connected
      await ended;
      folder[Symbol.dispose]();
    },
  };
}

async function isListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const socket = createConnection(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(() => true, () => false);
    socket.destroy();
    if (isOpen) return;
    await delay(20);
  }
  throw new Error("PgBouncer does not listen");
}
