import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type AddressInfo, createServer } from "node:net";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db, testOnEach } from "../support/database.ts";
import { administer, SERVERS as FOUND } from "../support/servers.ts";
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
async function cannotOpen(brand: ServerBrand, url: URL, reason: string): Promise<void> {
  const startMs = performance.now();
  const options = DbOptions.fromUrl(url.href).poolMin(3).acquireTimeoutMs(TIMEOUT_MS);
  const error = await Db.open(options).then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof DbError, String(error));
  const place = `${url.hostname}${url.port && `:${url.port}`}${url.pathname}`;
  const message = `Cannot open ${BRANDS[brand]} database ${place}: ${reason}`;
  assert.deepEqual([error.code, error.message], ["ConnectionLost", message]);
  assert.ok(!JSON.stringify(error).includes(PASSWORD));
  assert.ok(performance.now() - startMs < TIMEOUT_MS + 2000, "it takes no longer than it may");
}

testOnEach("DbOptions.open() reports that a server does not answer", async ({ brand, url }) => {
  assert.ok(brand !== "sqlite");
  await using line = await tcpLine(url);
  const hung = withPassword(line.url);
  line.hang();
  await cannotOpen(brand, hung, UNREACHABLE);
  line.cut();
  await cannotOpen(brand, hung, UNREACHABLE);
  await line.down();
  await cannotOpen(brand, hung, UNREACHABLE);
  const unknown = withPassword(url);
  unknown.host = "no-such-host.invalid";
  await cannotOpen(brand, unknown, UNREACHABLE);
  assert.deepEqual(await sessionsOf(brand, url), []);
}, SERVERS);

testOnEach("DbOptions.open() reports that there is no such database", async ({ brand, url }) => {
  assert.ok(brand !== "sqlite");
  const missing = new URL(url);
  missing.pathname += "_missing";
  await cannotOpen(brand, missing, "there is no such database");
}, SERVERS);

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
    await cannotOpen(brand, refused, `it refuses the user ${name} or the password`);
  } finally {
    await administer(brand, `drop ${brand === "postgres" ? "role" : "user"} ${user}`);
  }
}, SERVERS);

/** PostgreSQL's answer to a wrong password, in the form of its protocol. */
function wrongPassword(): Uint8Array {
  const fields = ["SFATAL", "VFATAL", "C28P01", 'Mpassword authentication failed for user "eve"'];
  const body = Buffer.from(fields.map((field) => `${field}\0`).join("") + "\0");
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

test("DbOptions.open() reports that PostgreSQL rejects the password", async () => {
  let connections = 0;
  // The servers of tests trust local connections.
  const server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).once("data", () => socket.end(wrongPassword()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(`postgres://eve:${PASSWORD}@127.0.0.1:${port}/data`);
  await cannotOpen("postgres", url, "it refuses the user eve or the password");
  assert.equal(connections, 1, "it is tried once");
  await new Promise((resolve) => server.close(resolve));
}, { skip: FOUND.postgres.skip });
