/** The database servers that tests use: found by the environment, or on their standard ports. */
import { createConnection } from "node:net";
import process from "node:process";
import mysql from "mysql2/promise";
import postgres from "postgres";

/** A server, and why tests on it are skipped, if they are. */
export interface Server {
  readonly url: string;
  readonly skip: string | undefined;
}

/** The servers by brand. */
export const SERVERS: Readonly<Record<"postgres" | "mysql", Server>> = {
  postgres: await findServer("TEST_POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
  mysql: await findServer("TEST_MYSQL_URL", "mysql://root@127.0.0.1:3306/mysql"),
};

/** Creates an empty database, dropped at the end. */
export async function createDatabase(
  brand: "postgres" | "mysql",
): Promise<AsyncDisposable & { readonly url: string }> {
  const name = `fw_test_${crypto.randomUUID().replaceAll("-", "")}`;
  await administer(brand, `create database ${name}`);
  const url = new URL(SERVERS[brand].url);
  url.pathname = `/${name}`;
  const drop = brand === "postgres"
    ? `drop database ${name} with (force)`
    : `drop database ${name}`;
  return { url: url.href, [Symbol.asyncDispose]: () => administer(brand, drop) };
}

/** Runs a statement as the administrator, on a new connection. */
export async function administer(brand: "postgres" | "mysql", statement: string): Promise<void> {
  if (brand === "postgres") {
    const sql = postgres(SERVERS.postgres.url, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement);
    return await sql.end();
  }
  const connection = await mysql.createConnection(SERVERS.mysql.url);
  await connection.query(statement);
  await connection.end();
}

async function findServer(variable: string, standard: string): Promise<Server> {
  const given = process.env[variable];
  if (given) return { url: given, skip: undefined };
  const { hostname, port, protocol } = new URL(standard);
  const isThere = await new Promise<boolean>((resolve) => {
    const socket = createConnection(Number(port), hostname);
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", end(true)).once("error", end(false));
  });
  const name = protocol.slice(0, -1);
  return {
    url: standard,
    skip: isThere ? undefined : `no ${name}: set ${variable} or start one on port ${port}`,
  };
}
