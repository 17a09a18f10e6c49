/** Real database servers with TLS, each a process of its own with a temporary folder. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
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
const OPENSSL = findOnPath("openssl");
const PROGRAMS = { postgres: find("postgres"), mysql: find("mariadbd") } as const;
/** The users of the servers, which refuse to be root. */
const USERS = { postgres: "postgres", mysql: "mysql" } as const;
const MAX_RUN_SECONDS = 120;
const IS_ROOT = process.getuid?.() === 0;

/** Why the tests with TLS are skipped, if they are. */
export const SKIP_TLS: Readonly<Record<ServerBrand, string | undefined>> = {
  postgres: OPENSSL && PROGRAMS.postgres && find("initdb")
    ? undefined
    : "no PostgreSQL server: install postgresql and openssl",
  mysql: OPENSSL && PROGRAMS.mysql
    ? undefined
    : "no MariaDB server: install mariadb-server and openssl",
};

/** A running server, whose certificate has the name `localhost` and no address. */
export interface TlsServer extends AsyncDisposable {
  /** Its port on 127.0.0.1. */
  readonly port: number;
  /** The file of the authority that signed its certificate. */
  readonly rootCert: string;
  /** The file of another authority. */
  readonly otherCert: string;
  /** Returns the path of a file with this text. */
  file(name: string, text: string): string;
}

/** What a server is like. */
export interface TlsServerOptions {
  /** The name in its certificate; default `localhost`. */
  readonly name?: string;
  /** Whether it has TLS; default `true`. */
  readonly hasTls?: boolean;
}

/** Starts a server that accepts plain connections too, of anybody. */
export async function startTlsServer(
  brand: ServerBrand,
  { name = "localhost", hasTls = true }: TlsServerOptions = {},
): Promise<TlsServer> {
  const folder = new TemporaryFolder();
  const at = (file: string) => join(folder.path, file);
  const port = await freePort();
  for (const ca of ["ca", "other"]) makeAuthority(at(ca));
  makeCertificate(at("server"), { ca: at("ca"), name });
  chmodSync(folder.path, 0o755);
  mkdirSync(at("data"));
  const user = USERS[brand];
  if (IS_ROOT) run(["chown", user, at("data"), at("server.key")]);
  const [program, ...args] = brand === "postgres"
    ? postgresCommand(at, { port, hasTls })
    : mariadbCommand(at, { port, hasTls });
  const become = IS_ROOT && brand === "postgres" ? asUser(user) : [];
  // A server whose test was killed ends too.
  const limited = ["--kill-after=5", String(MAX_RUN_SECONDS), ...become, program!, ...args];
  const child = spawn("timeout", limited, { stdio: "ignore" });
  const ended = once(child, "exit");
  const stop = async () => {
    child.kill("SIGQUIT"); // passed on: at once, whoever is connected
    await ended;
    folder[Symbol.dispose]();
  };
  try {
    await isReady(brand, port);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    rootCert: at("ca.pem"),
    otherCert: at("other.pem"),
    file(name, text) {
      writeFileSync(at(name), text);
      return at(name);
    },
    [Symbol.asyncDispose]: stop,
  };
}

interface Listening {
  readonly port: number;
  readonly hasTls: boolean;
}

function postgresCommand(
  at: (file: string) => string,
  { port, hasTls }: Listening,
): readonly string[] {
  const initdb = [find("initdb")!, "-A", "trust", "-U", "postgres", "--no-sync", "-D", at("data")];
  run([...(IS_ROOT ? asUser(USERS.postgres) : []), ...initdb]);
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    ssl: hasTls ? "on" : "off",
    ssl_cert_file: at("server.pem"),
    ssl_key_file: at("server.key"),
    fsync: "off",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return [PROGRAMS.postgres!, "-D", at("data"), ...flags];
}

function mariadbCommand(
  at: (file: string) => string,
  { port, hasTls }: Listening,
): readonly string[] {
  const tls = { ca: "ca.pem", cert: "server.pem", key: "server.key" };
  return [
    PROGRAMS.mysql!,
    "--no-defaults",
    ...IS_ROOT ? [`--user=${USERS.mysql}`] : [],
    `--datadir=${at("data")}`,
    `--socket=${at("data")}/socket`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--tmpdir=${at("data")}`, // it would remove the temporary tables of other servers
    "--skip-grant-tables",
    ...hasTls ? Object.entries(tls).map(([name, file]) => `--ssl-${name}=${at(file)}`) : [],
    "--innodb-buffer-pool-size=8M",
    "--innodb-log-file-size=4M",
  ];
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

function makeAuthority(path: string): void {
  const files = ["-keyout", `${path}.key`, "-out", `${path}.pem`];
  run([OPENSSL!, "req", "-x509", ...NEW_KEY, ...files, "-subj", "/CN=fw tests", "-days", "2"]);
}

function makeCertificate(path: string, { ca, name }: { readonly ca: string; name: string }): void {
  const files = ["-keyout", `${path}.key`, "-out", `${path}.csr`];
  run([OPENSSL!, "req", ...NEW_KEY, ...files, "-subj", `/CN=${name}`]);
  writeFileSync(`${path}.ext`, `subjectAltName=DNS:${name}`);
  const signing = ["-CA", `${ca}.pem`, "-CAkey", `${ca}.key`, "-CAcreateserial", "-days", "2"];
  const request = ["-in", `${path}.csr`, "-extfile", `${path}.ext`, "-out", `${path}.pem`];
  run([OPENSSL!, "x509", "-req", ...signing, ...request]);
}

function asUser(user: string): readonly string[] {
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
}

function run([program = "", ...args]: readonly string[]): void {
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

/** Waits until a server answers: PostgreSQL listens before. */
async function isReady(brand: ServerBrand, port: number): Promise<void> {
  let failure: unknown;
  for (let attempt = 0; attempt < 500; attempt++) {
    try {
      return await (brand === "postgres" ? askPostgres(port) : askMariadb(port));
    } catch (error) {
      failure = error;
    }
    await delay(20);
  }
  throw failure;
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
  await connection.end();
}
