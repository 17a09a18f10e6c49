import assert from "node:assert/strict";
import { inspect } from "node:util";
import { sql } from "kysely";
import { DbOptions } from "../../src/db/mod.ts";
import { test } from "../support/test.ts";
import { withEnv } from "../support/with_env.ts";
import { Db, dbError, temporaryFolder, testOnEach } from "./support/database.ts";
import { tcpLine } from "./support/tcp_line.ts";

test("DbOptions.fromUrl() rejects an invalid URL without repeating a part of it", () => {
  const MALFORMED =
    "it is malformed; in a password, percent-encode everything but letters and digits";
  const NO_SCHEME = "it does not begin with sqlite:, postgresql:, postgres:, mysql: or mariadb:";
  const table: readonly (readonly [string, string])[] = [
    ["", NO_SCHEME],
    ["hunter2", NO_SCHEME],
    ["ada:hunter2@localhost/db", NO_SCHEME],
    ["hunter2://ada@localhost/db", NO_SCHEME],
    [" sqlite:hunter2", NO_SCHEME],
    ["sqlite:", "it names no SQLite file"],
    ["sqlite://", "it names no SQLite file"],
    ["postgres://ada:hunter2@[/db", MALFORMED],
    ["postgres://ada:p@ss/hunter2@localhost/db", MALFORMED],
    ["mysql://ada:hunter2@localhost/db#x", MALFORMED],
    ["mysql:ada:hunter2", "it names no host"],
    ["mysql:///hunter2", "it names no host"],
    ["postgresql://ada:hunter2@localhost", "it names no database"],
    ["mariadb://ada:hunter2@localhost/", "it names no database"],
    ["postgres://ada:%zz@localhost/db", MALFORMED],
    ["postgres://ada:hunter2@one,/db", MALFORMED],
    ["postgres://ada:hunter2@one:1,two:99999/db", MALFORMED],
    ["mysql://ada:hunter2@one,two/db", "it names several hosts"],
    ["postgres://ada:1/x?hunter2@localhost/db", MALFORMED],
    ["postgres://ada:1/x?hunter2=@localhost/db", MALFORMED],
    ["postgres://ada:1/x?hunter2/x=1", MALFORMED],
    ["sqlite:data.sqlite?mode=hunter2", "its parameter mode is unknown"],
    ["sqlite::memory:?cache=hunter2", "its parameter cache is unknown"],
    ...parameters({
      "prepare=maybe": "prepare is not one of true, false",
      "pgbouncer=1": "pgbouncer is not one of true, false",
      "ssl_mode=hunter2": "its parameter ssl_mode is unknown",
      "user=ada&password=hunter2": "its parameter user is unknown",
      "constructor=hunter2": "its parameter constructor is unknown",
      "sslmode=hunter2":
        "sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full",
      "sslmode=REQUIRED":
        "sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full",
      "ssl-mode=require":
        "ssl-mode is not one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY",
      "sslmode=require&ssl-mode=VERIFY_CA": "sslmode and ssl-mode contradict each other",
      "sslmode=require&sslmode=disable": "sslmode and sslmode contradict each other",
      "sslmode=disable&sslaccept=strict": "sslaccept=strict contradicts that TLS is disabled",
      "sslmode=disable&sslrootcert=ca.pem": "sslrootcert contradicts that TLS is disabled",
      "sslmode=verify-ca&sslaccept=accept_invalid_certs":
        "sslaccept=accept_invalid_certs contradicts that the certificate is verified",
      "sslrootcert=a.pem&ssl-ca=b.pem": "sslrootcert and ssl-ca contradict each other",
      "sslrootcert=system&sslmode=require": "sslrootcert=system is for the mode verify-full only",
      "sslrootcert=": "sslrootcert is empty",
      "sslcert=a.pem": "sslcert is not supported: clients have no certificates",
      "channel_binding=require&sslmode=disable":
        "channel_binding=require contradicts that TLS is disabled",
      "connection_limit=0": "connection_limit is not a whole number of 1 to 2147483647",
      "connection_limit=many": "connection_limit is not a whole number of 1 to 2147483647",
      "connect_timeout=-1": "connect_timeout is not a whole number of 0 to 2147483",
      "prepare=true&pgbouncer=true": "prepare and pgbouncer contradict each other",
      "target_session_attrs=fast":
        "target_session_attrs is not one of any, read-write, read-only, primary, standby, prefer-standby",
    }),
    ["mysql://ada:hunter2@localhost/db?prepare=true", "its parameter prepare is unknown"],
    ["mysql://ada:hunter2@localhost/db?pgbouncer=true", "its parameter pgbouncer is unknown"],
  ];
  for (const [url, reason] of table) {
    const message = `Cannot read database URL: ${reason}`;
    assert.throws(() => DbOptions.fromUrl(url), { name: "TypeError", message });
  }
});

/** Rows of URLs with parameters. */
function parameters(
  reasons: Readonly<Record<string, string>>,
): readonly (readonly [string, string])[] {
  return Object.entries(reasons).map(([query, reason]) => [
    `postgres://ada:hunter2@localhost/db?${query}`,
    reason,
  ]);
}

test("DbOptions.fromUrl() reads what hosts of databases write into their URLs", () => {
  const urls = [
    "postgres://a:b@ep-x-pooler.eu.aws.neon.tech/db?sslmode=require&channel_binding=require",
    "postgres://a:b@x.neon.tech/db?sslmode=require&options=endpoint%3Dep-x&connect_timeout=15",
    "postgres://a:b@x.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1",
    "postgres://a:b@x.pooler.supabase.com:6543/postgres?sslmode=require&supa=base-pooler.x",
    "postgres://a:b@x/db?workaround=supabase-pooler.vercel&statement_cache_size=0",
    "postgres://a:b@db.prisma.io:5432/postgres?sslmode=require&pool_timeout=0&schema=public",
    "postgres://a:b@x/db?sslmode=require&sslaccept=strict&socket_timeout=5&uselibpqcompat=true",
    "postgres://a:b@x/db?application_name=shop&target_session_attrs=any&gssencmode=disable",
    "mysql://a:b@aws.connect.psdb.cloud/db?sslaccept=strict",
    "mysql://a:b@aws.connect.psdb.cloud/db?ssl={%22rejectUnauthorized%22:true}",
    "mysql://a:b@x.aivencloud.com:12691/db?ssl-mode=REQUIRED",
    "mysql://a:b@x.ondigitalocean.com:25060/db?ssl-mode=REQUIRED&connection_limit=5",
    "mysql://a:b@x.rlwy.net:3306/railway",
  ];
  for (const url of urls) DbOptions.fromUrl(url);
});

test("DbOptions.fromUrl() reads the forms of a SQLite URL", async () => {
  await using folder = await temporaryFolder();
  for (const [form, name] of [["sqlite:", "a"], ["sqlite://", "b"]] as const) {
    const path = folder.path(`${name} é?%20.sqlite`);
    await using db = await Db.open(DbOptions.fromUrl(form + path));
    await db.createTables();
    await using again = await Db.open(DbOptions.fromUrl(`sqlite:${path}`));
    assert.equal(await again.user.count(), 0);
  }
});

test("DbOptions.fromEnv() reads DATABASE_URL", async () => {
  await withEnv("DATABASE_URL", "sqlite::memory:", async () => {
    await using db = await Db.open(DbOptions.fromEnv());
    await db.ping();
  });
  for (const url of [undefined, ""]) {
    await withEnv("DATABASE_URL", url, () =>
      assert.throws(() => DbOptions.fromEnv(), {
        name: "TypeError",
        message: "Cannot read DATABASE_URL: it is not set",
      }));
  }
});

test("DbOptions is immutable and checks the limits of its pool", async () => {
  const options = DbOptions.fromUrl("sqlite::memory:");
  assert.notEqual(options.poolMin(20), options);
  await assert.rejects(options.poolMin(20).open(), {
    name: "RangeError",
    message: "Cannot open database: poolMin 20 is over poolMax 10",
  });
  for (const opened of [options, options.poolMin(20).poolMax(30), options.poolMax(1)]) {
    await (await opened.open()).close();
  }
  for (const count of [-1, 1.5, NaN, Infinity]) {
    assert.throws(() => options.poolMin(count), {
      name: "RangeError",
      message: `Cannot limit pool: ${count} is not a whole number of 0 or more`,
    });
    assert.throws(() => options.poolMax(count), RangeError);
  }
  assert.throws(() => options.poolMax(0), RangeError);
});

testOnEach("the parameters of a URL configure the pool; methods precede them", async ({ url }) => {
  const limited = DbOptions.fromUrl(`${url}?connection_limit=1&pool_timeout=1`);
  await assert.rejects(limited.poolMin(2).open(), {
    name: "RangeError",
    message: "Cannot open database: poolMin 2 is over poolMax 1",
  });
  await (await limited.poolMin(2).poolMax(2).open()).close();
  await using db = await Db.open(limited);
  await db.createTables();
  const { promise, resolve } = Promise.withResolvers<void>();
  const open = db.transaction(async () => {
    await db.user.count();
    await promise;
  });
  await assert.rejects(db.transaction(() => {}), { code: "PoolTimeout" });
  resolve();
  await open;
}, { brands: ["postgres", "mysql"] });

testOnEach("connect_timeout limits only the wait for the server", async ({ url }) => {
  await using line = await tcpLine(url);
  line.hang();
  const options = DbOptions.fromUrl(`${line.url}?connect_timeout=1`);
  const startMs = performance.now();
  await assert.rejects(options.open(), { code: "ConnectionLost" });
  assert.ok(performance.now() - startMs < 5000);
}, { brands: ["postgres", "mysql"] });

testOnEach("the parameters of a URL configure the session of PostgreSQL", async ({ url }) => {
  const query = "application_name=shop&options=-c%20statement_timeout%3D1234&schema=public";
  await using db = await Db.open(DbOptions.fromUrl(`${url}?${query}&target_session_attrs=primary`));
  const { rows } = await sql`select current_setting('application_name') as name,
    current_setting('statement_timeout') as timeout`.execute(db.kysely);
  assert.deepEqual({ ...rows[0] as object }, { name: "shop", timeout: "1234ms" });
  const place = url.replace(/^.*@/, "");
  await assert.rejects(
    Db.open(DbOptions.fromUrl(`${url}?schema=shop`)),
    dbError(
      "Database",
      `Cannot open PostgreSQL database ${place}: the current schema is not shop; it must exist, ` +
        "and be the first of the search_path of the role (alter role … set search_path)",
    ),
  );
  await assert.rejects(Db.open(DbOptions.fromUrl(`${url}?target_session_attrs=standby`)), {
    code: "ConnectionLost",
  });
}, { brands: ["postgres"] });

test("DbOptions.now() refuses what is not a function when it is set", () => {
  const options = DbOptions.fromUrl("sqlite::memory:");
  for (const clock of [undefined, null, 5, "text", {}, new Date()] as never[]) {
    assert.throws(() => options.now(clock), {
      name: "TypeError",
      message: "Cannot set now: it is not a function",
    });
  }
});

test("DbOptions never shows its URL", () => {
  const options = DbOptions.fromUrl("sqlite:/hunter2/data.sqlite");
  for (const text of [inspect(options), JSON.stringify(options), String(options)]) {
    assert.ok(!text.includes("hunter2"), text);
  }
});
