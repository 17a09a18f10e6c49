/** URLs that name several servers of PostgreSQL. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { freePort } from "../../support/free_port.ts";
import { test } from "../../support/test.ts";
import { Db, testOnEach } from "../support/database.ts";
import { SKIP_OWN } from "../support/own_servers.ts";
import { startPair } from "../support/postgres_pair.ts";
import { tcpLine } from "../support/tcp_line.ts";

test(
  "each connection goes to the host of the wanted kind, and finds the next primary",
  async () => {
    await using pair = await startPair();
    const { primary, standby } = pair;
    const portFor = async (target: string) => {
      await using db = await Db.open(DbOptions.fromUrl(pair.url.replace("read-write", target)));
      return await portOf(db);
    };
    const ports: Record<string, unknown> = {};
    for (
      const target of ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]
    ) {
      ports[target] = await portFor(target);
    }
    assert.deepEqual(ports, {
      any: primary.port,
      "read-write": primary.port,
      "read-only": standby.port,
      primary: primary.port,
      standby: standby.port,
      "prefer-standby": standby.port,
    });
    const backwards = pair.url.replace(/(127[^,]*),(127[^/]*)/, "$2,$1");
    await using db = await Db.open(DbOptions.fromUrl(backwards).poolMax(3));
    await db.createTables();
    const create = (name: string) =>
      db.user.create({ data: { tenant_id: "a", email: `${name}@example.org`, name } });
    await create("ada");
    await standby.kill();
    assert.equal(await portFor("prefer-standby"), primary.port);
    await standby.start();
    await primary.kill();
    await assert.rejects(create("bob"), { code: "ConnectionLost" });
    await assert.rejects(create("cyd"), { code: "ConnectionLost" });
    await pair.promote();
    await create("dan");
    assert.deepEqual((await db.user.findMany()).map(({ name }) => name), ["ada", "dan"]);
    assert.equal(await portOf(db), standby.port);
    await primary.start(); // as another primary: the order decides
    assert.equal(await portFor("read-write"), primary.port);
  },
  { skip: SKIP_OWN.postgres, slow: true },
);

testOnEach("a host that is down or hangs is passed over", async ({ url }) => {
  await using line = await tcpLine(url);
  const { port } = new URL(url);
  const served = `127.0.0.1:${port || 5432}`;
  const to = (...hosts: string[]) =>
    DbOptions.fromUrl(url.replace(/@[^/]*/, `@${hosts.join()}`)).poolMax(1);
  const down = `127.0.0.1:${await freePort()}`;
  const hangs = new URL(line.url).host;
  line.hang();
  await using db = await Db.open(to(down, hangs, served));
  assert.equal((await sql`select 1 as one`.execute(db.kysely)).rows.length, 1);
  await assert.rejects(Db.open(to(down, down)), {
    code: "ConnectionLost",
    message: new RegExp(`${down}.*${down}`),
  });
  await assert.rejects(
    Db.open(DbOptions.fromUrl(`${url}?target_session_attrs=standby`)),
    { code: "ConnectionLost", message: /:\d+ is not standby/ },
  );
}, { brands: ["postgres"] });

testOnEach("hosts that hang are asked again when they are back", async ({ url }) => {
  await using line = await tcpLine(url);
  const { host } = new URL(line.url);
  const both = line.url.replace(host, `${host},${host}`);
  await using db = await Db.open(DbOptions.fromUrl(both).statementTimeoutMs(1000));
  line.cut();
  await assert.rejects(sql`select 1`.execute(db.kysely), { code: "ConnectionLost" });
  await line.restore();
  line.hang();
  const hung = Array.from({ length: 3 }, () => db.user.count());
  for (const each of await Promise.allSettled(hung)) {
    assert.equal((each as PromiseRejectedResult).reason?.code, "StatementTimeout");
  }
  await line.restore();
  await db.createTables(); // it has no limit but that of connecting, which is 10 s
}, { brands: ["postgres"] });

for (const scheme of ["postgres", "mysql"]) {
  test(`an address of IPv6 is no name that is looked up (${scheme})`, async () => {
    const port = await freePort();
    const opening = Db.open(DbOptions.fromUrl(`${scheme}://ada@[::1]:${port}/shop`));
    // a machine without IPv6 has no such address
    await assert.rejects(opening, { message: /ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH/ });
  });
}

async function portOf(db: Db): Promise<unknown> {
  const { rows } = await sql<{ port: number }>`select inet_server_port() as port`
    .execute(db.kysely);
  return rows[0]?.port;
}
