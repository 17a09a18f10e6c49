import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db, dbError, testOnEach } from "../support/database.ts";
import { administer } from "../support/servers.ts";
import { sessionsOf } from "../support/sessions.ts";
import { tcpLine } from "../support/tcp_line.ts";

const SERVERS = ["postgres", "mysql"] as const;
const PASSWORD = "hunter2";
const TIMEOUT_MS = 300;
const BRANDS = { postgres: "PostgreSQL", mysql: "MySQL" } as const;
type ServerBrand = keyof typeof BRANDS;

const UNREACHABLE = "it does not answer, or rejects connections";

function withPassword(url: string): URL {
  const given = new URL(url);
  given.password = PASSWORD;
  return given;
}

/** Opens a database that cannot be opened, and checks the error. */
async function cannotOpen(
  brand: ServerBrand,
  url: URL,
  [reason, words]: readonly [reason: string, words: RegExp],
): Promise<void> {
  const startMs = performance.now();
  const options = DbOptions.fromUrl(url.href).poolMin(3).acquireTimeoutMs(TIMEOUT_MS);
  const error = await Db.open(options).then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof DbError, String(error));
  const place = `${url.hostname}${url.port && `:${url.port}`}${url.pathname}`;
  const message = `Cannot open ${BRANDS[brand]} database ${place}: ${reason}`;
  assert.equal(error.code, "ConnectionLost");
  assert.ok(error.message.startsWith(`${message}: `), error.message);
  assert.match(error.message.slice(message.length + 2), words);
  assert.ok(error.cause instanceof Error);
  assert.ok(!error.message.includes(PASSWORD));
  assert.ok(performance.now() - startMs < TIMEOUT_MS + 2000, "it takes no longer than it may");
}

testOnEach("DbOptions.open() reports that a server does not answer", async ({ brand, url }) => {
  assert.ok(brand !== "sqlite");
  await using line = await tcpLine(url);
  const hung = withPassword(line.url);
  line.hang();
  await cannotOpen(brand, hung, [UNREACHABLE, /took too long|ETIMEDOUT/]);
  line.cut();
  await cannotOpen(brand, hung, [UNREACHABLE, /lost|closed|destroyed|ECONNRESET/i]);
  await line.down();
  await cannotOpen(brand, hung, [UNREACHABLE, /ECONNREFUSED/]);
  const unknown = withPassword(url);
  unknown.host = "no-such-host.invalid";
  await cannotOpen(brand, unknown, [UNREACHABLE, /no-such-host|ENOTFOUND|EAI_AGAIN/]);
  assert.deepEqual(await sessionsOf(brand, url), []);
}, { brands: SERVERS });

testOnEach("DbOptions.open() reports that the connection is lost after its login", async (
  { brand, url },
) => {
  assert.ok(brand !== "sqlite");
  const { port, hostname } = new URL(url);
  await using server = await listening((client) => {
    const behind = connect(Number(port || { postgres: 5432, mysql: 3306 }[brand]), hostname);
    client.on("data", (data) => behind.write(data)).on("error", () => {});
    client.on("close", () => behind.destroy());
    let answers = { postgres: 1, mysql: 2 }[brand];
    behind.on("error", () => {}).on("data", (data) => {
      if (answers-- > 0) client.write(data);
      else client.destroy();
    });
  });
  const line = new URL(url);
  line.host = `127.0.0.1:${server.port}`;
  await cannotOpen(brand, line, [UNREACHABLE, /lost|closed|ECONNRESET/i]);
  await delay(TIMEOUT_MS + 100); // an unhandled rejection would fail the test
}, { brands: SERVERS });

testOnEach("DbOptions.open() reports that there is no such database", async ({ brand, url }) => {
  assert.ok(brand !== "sqlite");
  const missing = new URL(url);
  missing.pathname += "_missing";
  const words = brand === "postgres" ? /database ".*_missing" does not exist$/ : /_missing'$/;
  await cannotOpen(brand, missing, ["there is no such database", words]);
}, { brands: SERVERS });

testOnEach("DbOptions.open() reports that the user or the password is rejected", async (
  { brand, url },
) => {
  assert.ok(brand !== "sqlite");
  const name = `fw_user_${crypto.randomUUID().slice(0, 8)}`;
  const refused = withPassword(url);
  refused.username = name;
  const user = brand === "postgres" ? name : `${name}@'%'`;
  await administer(
    brand,
    brand === "postgres"
      ? `create role ${name} nologin`
      : `create user ${user} identified by 'another'`,
  );
  try {
    const words = brand === "postgres"
      ? /^role ".*" is not permitted to log in$/
      : /^Access denied for user '.*'@'.*' \(using password: YES\)$/;
    await cannotOpen(brand, refused, [`it refuses the user ${name} or the password`, words]);
  } finally {
    await administer(brand, `drop ${brand === "postgres" ? "role" : "user"} ${user}`);
  }
}, { brands: SERVERS });

/** PostgreSQL's answer to a wrong password, in the form of its protocol. */
function wrongPassword(words: string): Uint8Array {
  const fields = ["SFATAL", "VFATAL", "C28P01", `M${words}`];
  const body = Buffer.from(fields.map((field) => `${field}\0`).join("") + "\0");
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A server of a test. */
interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly connections: () => number;
}

/** Starts a server that rejects each password with these words, and counts its connections. */
function rejecting(words: string): Promise<Listening> {
  // The servers of tests trust local connections.
  return listening((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(wrongPassword(words)));
  });
}

async function listening(answer: (socket: Socket) => void): Promise<Listening> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

test("DbOptions.open() reports that PostgreSQL rejects the password", async () => {
  const words = 'password authentication failed for user "eve"';
  await using server = await rejecting(words);
  const url = new URL(`postgres://eve:${PASSWORD}@127.0.0.1:${server.port}/data`);
  const reason = "it refuses the user eve or the password";
  await cannotOpen("postgres", url, [reason, new RegExp(`^${words}$`)]);
  assert.equal(server.connections(), 1, "it is tried once");
});

test("DbOptions.open() does not quote a server that repeats the password", async () => {
  await using server = await rejecting(`the password ${PASSWORD} is wrong`);
  const place = `127.0.0.1:${server.port}/data`;
  await assert.rejects(
    Db.open(DbOptions.fromUrl(`postgres://eve:${PASSWORD}@${place}`)),
    dbError(
      "ConnectionLost",
      `Cannot open PostgreSQL database ${place}: it refuses the user eve or the password`,
    ),
  );
});
