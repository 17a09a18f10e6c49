/** Real database servers that a test may kill and freeze, each with its own folder and port. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import mysql from "mysql2/promise";
import postgres from "postgres";
import { findOnPath } from "../../../src/cli/system/programs.ts";
import { freePort } from "../../support/free_port.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import type { ServerBrand } from "./sessions.ts";

/** The folders of Debian that are not on the PATH of users. */
const FOLDERS = ["/usr/sbin", ...postgresFolders("/usr/lib/postgresql")];
const PROGRAMS = { postgres: find("postgres"), mysql: find("mariadbd") } as const;
/** The users of the servers, which refuse to be root. */
const USERS = { postgres: "postgres", mysql: "mysql" } as const;
const DATABASE = "fw";
const MAX_RUN_SECONDS = 120;
const MAX_START_MS = 60_000;
const IS_ROOT = process.getuid?.() === 0;

/** Why the tests on servers of their own are skipped, if they are. */
export const SKIP_OWN: Readonly<Record<ServerBrand, string | undefined>> = {
  postgres: PROGRAMS.postgres && find("initdb")
    ? undefined
    : "no PostgreSQL server: install postgresql",
  mysql: PROGRAMS.mysql ? undefined : "no MariaDB server: install mariadb-server",
};

/** A server, which stops at the end of its scope. */
export interface OwnServer extends AsyncDisposable {
  /** Its port on 127.0.0.1, which stays the same. */
  readonly port: number;
  /** The URL of a database without tables, as the administrator. */
  readonly url: string;
  /** Starts it; resolves when it answers. */
  start(): Promise<void>;
  /** Kills all its processes with SIGKILL; resolves when they have ended. */
  kill(): Promise<void>;
  /** Stops all its processes, with connections open: it does not answer. */
  freeze(): void;
  /** Continues. */
  thaw(): void;
}

/** What a server is like. */
export interface OwnServerOptions {
  /** A folder for its files, which it does not remove; default a temporary one. */
  readonly folder?: string;
  /** An empty folder for its data; default one inside its folder. */
  readonly data?: string;
  /** An empty folder for its log of writes; default one inside its folder. */
  readonly log?: string;
  /** The server of PostgreSQL of which it is a standby; default none. */
  readonly standbyOf?: OwnServer;
  /** Its settings, beside those that every server has here. */
  readonly settings?: Readonly<Record<string, string>>;
  /** After how many seconds it ends by itself, even if its test was killed; default 120. */
  readonly maxRunSeconds?: number;
}

/** Starts a server that accepts plain connections of anybody. */
export async function startOwnServer(
  brand: ServerBrand,
  { folder, data, log, standbyOf, settings = {}, maxRunSeconds = MAX_RUN_SECONDS }:
    OwnServerOptions = {},
): Promise<OwnServer> {
  const temporary = folder === undefined ? new TemporaryFolder() : undefined;
  const at = (file: string) => join(folder ?? temporary!.path, file);
  const port = await freePort();
  chmodSync(at("."), 0o755);
  const place = { data: data ?? at("data"), log: log ?? at("log") };
  for (const path of Object.values(place)) ownFolder(path, brand);
  const command = brand === "postgres"
    ? postgresCommand(place, { port, settings, ...standbyOf && { standbyOf } })
    : mariadbCommand(place, { port, settings });
  // A server whose test was killed ends too.
  const limited = ["--kill-after=5", String(maxRunSeconds), ...command];
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let frozen: readonly number[] = [];

  const server: OwnServer = {
    port,
    url: brand === "postgres"
      ? `postgres://postgres@127.0.0.1:${port}/postgres`
      : `mysql://root@127.0.0.1:${port}/${DATABASE}`,
    async start() {
      const output = openSync(at("output"), "a");
      child = spawn("timeout", limited, { stdio: ["ignore", output, output] });
      closeSync(output);
      ended = once(child, "exit");
      try {
        await Promise.race([isReady(brand, port), ended.then(() => fail(at("output")))]);
      } catch (error) {
        await server.kill();
        throw error;
      }
    },
    async kill() {
      const pids = child ? descendants(child.pid!) : [];
      for (const pid of pids) send(pid, "SIGKILL");
      await ended;
      while (pids.some(isRunning)) await delay(10);
      child = undefined;
    },
    freeze() {
      // the main process is first, so that it starts no others
      frozen = descendants(child!.pid!);
      for (const pid of frozen) send(pid, "SIGSTOP");
    },
    thaw() {
      for (const pid of frozen) send(pid, "SIGCONT");
      frozen = [];
    },
    async [Symbol.asyncDispose]() {
      server.thaw();
      await server.kill();
      temporary?.[Symbol.dispose]();
    },
  };
  try {
    await server.start();
  } catch (error) {
    temporary?.[Symbol.dispose]();
    throw error;
  }
  return server;
}

/** Creates a folder, or takes one over, for the user of a server. */
function ownFolder(path: string, brand: ServerBrand): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o700);
  if (IS_ROOT) run(["chown", USERS[brand], path]);
}

/** Where a server keeps its data, and its log of writes. */
interface Place {
  readonly data: string;
  readonly log: string;
}

interface Listening {
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

function postgresCommand(
  { data, log }: Place,
  { port, settings, standbyOf }: Listening & Pick<OwnServerOptions, "standbyOf">,
): readonly string[] {
  const become = IS_ROOT ? asUser(USERS.postgres) : [];
  const files = ["-U", "postgres", "--no-sync", "-D", data, `--waldir=${log}`];
  const from = ["-h", "127.0.0.1", "-p", `${standbyOf?.port}`, "--checkpoint=fast", "-R"];
  run([
    ...become,
    ...standbyOf ? [find("pg_basebackup")!, ...from] : [find("initdb")!, "-A", "trust"],
    ...files,
  ]);
  const all = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "off",
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return [...become, PROGRAMS.postgres!, "-D", data, ...flags];
}

function mariadbCommand(
  { data, log }: Place,
  { port, settings }: Listening,
): readonly string[] {
  const all = {
    datadir: data,
    socket: join(log, "socket"),
    port: String(port),
    "bind-address": "127.0.0.1",
    tmpdir: log, // it would remove the temporary tables of other servers
    "innodb-log-group-home-dir": log,
    "innodb-buffer-pool-size": "8M",
    "innodb-log-file-size": "4M",
    // what it has committed survives its end, though not that of the machine
    "innodb-flush-log-at-trx-commit": "2",
    ...settings,
  };
  return [
    PROGRAMS.mysql!,
    "--no-defaults",
    ...IS_ROOT ? [`--user=${USERS.mysql}`] : [],
    "--skip-grant-tables",
    ...Object.entries(all).map(([name, value]) => `--${name}=${value}`),
  ];
}

function asUser(user: string): readonly string[] {
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
}

/** Runs a program to its end. */
export function run([program = "", ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

function postgresFolders(root: string): readonly string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root).toSorted().map((version) => join(root, version, "bin"));
}

function find(program: string): string | undefined {
  return findOnPath(program) ??
    FOLDERS.map((folder) => join(folder, program)).findLast((path) => existsSync(path));
}

/** Lists the processes that a process has started, and those of theirs; parents are first. */
function descendants(root: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const pairs = stdout.trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const found = [root];
  for (const parent of found) {
    for (const [pid = 0, of] of pairs) if (of === parent) found.push(pid);
  }
  return found.slice(1);
}

function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

function send(pid: number, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended by itself
  }
}

function fail(output: string): never {
  throw new Error(`The server has ended: ${readFileSync(output, "utf8").slice(-1000)}`);
}

/** Waits until a server answers: PostgreSQL listens before. */
async function isReady(brand: ServerBrand, port: number): Promise<void> {
  const endsAt = performance.now() + MAX_START_MS;
  for (;;) {
    try {
      return await (brand === "postgres" ? askPostgres(port) : askMariadb(port));
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
    await delay(20);
  }
}

async function askPostgres(port: number): Promise<void> {
  const sql = postgres({ host: "127.0.0.1", port, user: "postgres", max: 1 });
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 0 });
  }
}

async function askMariadb(port: number): Promise<void> {
  const connection = await mysql.createConnection({ host: "127.0.0.1", port, user: "root" });
  await connection.query(`create database if not exists ${DATABASE}`);
  await connection.end();
}
