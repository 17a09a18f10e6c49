/** Encrypted connections to real servers, whose certificate has the name `localhost`. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db } from "../support/database.ts";
import { type ServerBrand, sessionOf } from "../support/sessions.ts";
import { SKIP_TLS, startTlsServer } from "../support/tls_servers.ts";

const BRANDS = ["postgres", "mysql"] as const;
const DATABASES = { postgres: "postgres://postgres@", mysql: "mysql://root@" } as const;
const NAMES = { postgres: "postgres", mysql: "information_schema" } as const;

/** Checks the session of a connection. */
const ENCRYPTED = {
  postgres: sql<{ is_encrypted: unknown }>`
    select ssl as is_encrypted from pg_stat_ssl where pid = pg_backend_pid()`,
  mysql: sql<{ is_encrypted: unknown }>`
    select variable_value <> '' as is_encrypted from information_schema.session_status
    where variable_name = 'ssl_cipher'`,
} as const;

/** Opens a database, and checks whether all its connections are encrypted; or why it cannot open. */
async function connect(brand: ServerBrand, url: string): Promise<boolean | string> {
  try {
    await using db = await Db.open(DbOptions.fromUrl(url).poolMin(2).acquireTimeoutMs(5000));
    const queries = Array.from(
      { length: 3 },
      () =>
        db.kysely.connection().execute(async (own) => {
          const { rows } = await ENCRYPTED[brand].execute(own);
          return Boolean(Number(rows[0]?.is_encrypted));
        }),
    );
    const answers = new Set(await Promise.all(queries));
    assert.equal(answers.size, 1);
    return answers.has(true);
  } catch (error) {
    assert.ok(error instanceof DbError || error instanceof TypeError, String(error));
    assert.ok(!error.message.includes("hunter2"), error.message);
    return error.message;
  }
}

const UNTRUSTED = /(unable to verify|self.signed|issuer)/;
const NO_TLS = /(the server has no TLS|Server does not support secure connection)$/;
const OTHER_NAME = /(altnames|does not match)/;

type Expected = boolean | RegExp;

for (const brand of BRANDS) {
  test(`a URL encrypts and verifies as its parameters ask for (${brand})`, async () => {
    await using server = await startTlsServer(brand);
    const { port, rootCert: root, otherCert: other } = server;
    const at = (host: string, query: string) =>
      connect(brand, `${DATABASES[brand]}${host}:${port}/${NAMES[brand]}?${query}`);
    const bundle = server.file(
      "bundle.pem",
      [other, root].map((file) => readFileSync(file, "utf8")).join("\n"),
    );
    const broken = server.file(
      "broken.pem",
      "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----",
    );
    const table: readonly (readonly [host: string, query: string, Expected])[] = [
      ["127.0.0.1", "", false],
      ["127.0.0.1", "sslmode=disable", false],
      ["127.0.0.1", "ssl-mode=DISABLED", false],
      ["127.0.0.1", "sslmode=allow", true],
      ["127.0.0.1", "sslmode=prefer", true],
      ["127.0.0.1", "ssl-mode=PREFERRED", true],
      ["127.0.0.1", "sslmode=require", true],
      ["127.0.0.1", "ssl-mode=Required&sslmode=require", true],
      ["127.0.0.1", "sslaccept=accept_invalid_certs", true],
      ["127.0.0.1", `ssl=${encodeURIComponent('{"rejectUnauthorized":false}')}`, true],
      ["localhost", "sslmode=verify-ca", UNTRUSTED],
      ["localhost", "sslaccept=strict", UNTRUSTED],
      ["localhost", "ssl=true", UNTRUSTED],
      ["localhost", "sslrootcert=system", UNTRUSTED],
      ["localhost", `sslmode=require&sslrootcert=${other}`, UNTRUSTED],
      ["localhost", `sslmode=prefer&sslrootcert=${other}`, UNTRUSTED],
      ["localhost", `ssl-mode=VERIFY_IDENTITY&ssl-ca=${other}`, UNTRUSTED],
      ["127.0.0.1", `sslmode=verify-ca&sslrootcert=${root}`, true],
      ["127.0.0.1", `ssl-mode=verify_ca&ssl-ca=${root}`, true],
      ["127.0.0.1", `sslrootcert=${root}`, true],
      ["localhost", `sslmode=verify-full&sslrootcert=${root}`, true],
      ["localhost", `ssl-mode=VERIFY_IDENTITY&ssl-ca=${bundle}`, true],
      ["localhost", `sslmode=require&sslaccept=strict&sslrootcert=${root}`, true],
      [
        "localhost",
        `sslrootcert=${root}x`,
        /^Cannot open database: the root certificate .*x cannot be read$/,
      ],
      [
        "localhost",
        `sslrootcert=${broken}`,
        /^Cannot open database: the root certificate .* is not a certificate$/,
      ],
      ["localhost", `sslrootcert=${root.replace("pem", "key")}`, /is not a certificate$/],
      brand === "mysql"
        ? [
          "127.0.0.1",
          "sslmode=verify-full",
          /^Cannot read database URL: the certificate of an address/,
        ]
        : ["127.0.0.1", `sslmode=verify-full&sslrootcert=${root}`, OTHER_NAME],
      ...brand === "postgres"
        ? [
          ["localhost", "sslmode=require&channel_binding=prefer", true],
          ["localhost", "sslmode=require&channel_binding=require", UNTRUSTED],
          ["localhost", `channel_binding=require&sslrootcert=${root}`, true],
          ["127.0.0.1", `channel_binding=require&sslrootcert=${root}`, OTHER_NAME],
        ] as const
        : [],
    ];
    for (const [host, query, expected] of table) {
      const found = await at(host, query);
      if (typeof expected === "boolean") assert.equal(found, expected, query);
      else assert.match(String(found), expected, query);
    }
  }, { skip: SKIP_TLS[brand], slow: brand === "postgres" });

  test(`verify-full refuses a certificate of another host (${brand})`, async () => {
    await using server = await startTlsServer(brand, { name: "db.example" });
    const url = `${DATABASES[brand]}localhost:${server.port}/${NAMES[brand]}`;
    const verified = `${url}?sslrootcert=${server.rootCert}&sslmode=`;
    assert.match(String(await connect(brand, `${verified}verify-full`)), OTHER_NAME);
    assert.equal(await connect(brand, `${verified}verify-ca`), true);
  }, { skip: SKIP_TLS[brand] });

  test(`a server without TLS is refused unless TLS is optional (${brand})`, async () => {
    await using server = await startTlsServer(brand, { hasTls: false });
    const url = `${DATABASES[brand]}localhost:${server.port}/${NAMES[brand]}?sslmode=`;
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      assert.match(String(await connect(brand, url + mode)), NO_TLS, mode);
    }
    for (const mode of ["prefer", "allow"]) {
      assert.equal(await connect(brand, url + mode), false, mode);
    }
    assert.match(String(await connect(brand, `${url}prefer&sslaccept=strict`)), NO_TLS);
    const trusted = `${url}prefer&sslrootcert=${server.rootCert}`;
    assert.match(String(await connect(brand, trusted)), NO_TLS);
  }, { skip: SKIP_TLS[brand], slow: brand === "postgres" });
}

for (const brand of BRANDS) {
  test(`a lost connection is replaced by one that is encrypted too (${brand})`, async () => {
    await using server = await startTlsServer(brand);
    const url = `${DATABASES[brand]}127.0.0.1:${server.port}/${NAMES[brand]}?sslmode=require`;
    await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1).acquireTimeoutMs(5000));
    const id = await sessionOf(brand, db.kysely);
    const kill = brand === "postgres"
      ? sql`select pg_terminate_backend(${sql.lit(id)})`
      : sql`kill ${sql.lit(id)}`;
    await assert.rejects(kill.execute(db.kysely), { code: "ConnectionLost" });
    await delay(100); // until the pool can know
    const { rows } = await ENCRYPTED[brand].execute(db.kysely);
    assert.equal(Boolean(Number(rows[0]?.is_encrypted)), true);
    assert.notEqual(await sessionOf(brand, db.kysely), id);
  }, { skip: SKIP_TLS[brand], slow: brand === "postgres" });
}

test("PostgreSQL is sent nothing in plain text where TLS is required", async () => {
  const table: readonly (readonly [answer: string, RegExp])[] = [
    ["N", NO_TLS],
    ["S and more, which is not encrypted", /does not answer the request for TLS/],
    ["E", /does not answer the request for TLS/],
    ["", /connecting took too long/],
  ];
  for (const [answer, expected] of table) {
    const received: Buffer[] = [];
    await using server = await listen((socket) => {
      socket.on("error", () => {}).on("data", (data) => received.push(data as Buffer));
      if (answer) socket.once("data", () => socket.write(answer));
    });
    const url = `postgres://ada:hunter2@127.0.0.1:${server.port}/data?sslmode=require`;
    await assert.rejects(
      Db.open(DbOptions.fromUrl(url).acquireTimeoutMs(300)),
      (error: unknown) => {
        assert.ok(error instanceof DbError);
        assert.equal(error.code, "ConnectionLost");
        assert.match(error.message, expected);
        return true;
      },
    );
    assert.equal(Buffer.concat(received).toString("hex"), "0000000804d2162f");
  }
});

async function listen(
  onConnection: (socket: Socket) => void,
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
