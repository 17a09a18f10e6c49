import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { streamText } from "hono/streaming";
import { sql } from "kysely";
import { timeout } from "hono/timeout";
import { controller, FwFactory, type HttpServer, module, route } from "../../../mod.ts";
import { type DbError, DbOptions } from "../../../src/db/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { SERVERS } from "../dialects/fault.ts";
import { Db, testOnEach } from "../support/database.ts";
import { runningStatements, type ServerBrand, sleep } from "../support/sessions.ts";

interface Slow extends AsyncDisposable {
  readonly server: HttpServer;
  /** How the statement of a route ends. */
  readonly ends: Readonly<
    Record<"get" | "transaction" | "timed" | "post" | "stream", Promise<string>>
  >;
  /** Waits until the server runs a statement that sleeps. */
  isAsleep(): Promise<void>;
}

/** Serves routes whose statements sleep. */
async function serveSlow(brand: ServerBrand, url: string): Promise<Slow> {
  const db = await Db.open(DbOptions.fromUrl(url));
  const end = () => Promise.withResolvers<string>();
  const ends = { get: end(), transaction: end(), timed: end(), post: end(), stream: end() };
  const asleep = async (name: keyof typeof ends, seconds: number) => {
    const outcome = sleep(brand, seconds).execute(db.kysely);
    ends[name].resolve(outcome.then(() => "done", (error: DbError) => error.code));
    await outcome;
    return "slept";
  };
  class SlowRoutes extends controller() {
    get = route.get("/get", () => asleep("get", 3600));
    transaction = route.get(
      "/transaction",
      () => db.transaction(() => asleep("transaction", 3600)),
    );
    timed = route.get("/timed", () => asleep("timed", 3600));
    post = route.post("/post", () => asleep("post", 2));
    stream = route.get("/stream", (_, c) =>
      streamText(c, async (stream) => {
        await stream.write("begun, ");
        await stream.write(await asleep("stream", 1));
      }));
  }
  const app = await FwFactory.create(module({ controllers: [SlowRoutes] }));
  app.use("/timed", timeout(200));
  const server = await app.listen(0, { hostname: "127.0.0.1" });
  return {
    server,
    ends: {
      get: ends.get.promise,
      transaction: ends.transaction.promise,
      timed: ends.timed.promise,
      post: ends.post.promise,
      stream: ends.stream.promise,
    },
    async isAsleep() {
      while (!(await runningStatements(brand, url)).some((it) => it.includes("sleep("))) {
        await delay(20);
      }
    },
    async [Symbol.asyncDispose]() {
      await app.close({ drainMs: 1000 });
      await db.close();
    },
  };
}

/** Sends a request, and leaves when the statement runs. */
async function leaveFrom(slow: Slow, method: string, path: string): Promise<void> {
  const { hostname, port } = new URL(slow.server.url);
  const socket = connect(Number(port), hostname);
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 0\r\n\r\n`);
  await slow.isAsleep();
  socket.destroy();
}

testOnEach("a GET whose client has left, or that was answered, ends its statement", async (
  { brand, url },
) => {
  assert.ok(brand !== "sqlite");
  await captureLogs(["fw"], async (records) => {
    const levels = () =>
      records.filter(({ category }) => category.includes("http")).map(({ level }) => level);
    await using slow = await serveSlow(brand, url);
    for (const path of ["get", "transaction"] as const) {
      await leaveFrom(slow, "GET", `/${path}`);
      assert.equal(await slow.ends[path], "StatementTimeout", path);
    }
    while (levels().length < 2) await delay(20);
    assert.deepEqual(levels(), ["debug", "debug"]);
    const timed = await fetch(`${slow.server.url}/timed`);
    assert.equal(timed.status, 504);
    await timed.body?.cancel();
    assert.equal(await slow.ends.timed, "StatementTimeout");
  });
}, { brands: SERVERS });

testOnEach(
  "a POST ends although its client has left, and a stream after its response began",
  async (
    { brand, url },
  ) => {
    assert.ok(brand !== "sqlite");
    await captureLogs(["fw"], async () => {
      await using slow = await serveSlow(brand, url);
      await leaveFrom(slow, "POST", "/post");
      assert.equal(await slow.ends.post, "done");
      const streamed = await fetch(`${slow.server.url}/stream`);
      assert.equal(await streamed.text(), "begun, slept");
      assert.equal(await slow.ends.stream, "done");
    });
  },
  { brands: SERVERS },
);

testOnEach(
  "a GET whose client has left while it waited for a connection sends no statement",
  async ({ brand, url }) => {
    assert.ok(brand !== "sqlite");
    await captureLogs(["fw"], async () => {
      const db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
      const outcomes: Promise<string>[] = [];
      class QueueController extends controller() {
        queued = route.get("/queued", async () => {
          const outcome = sleep(brand, 0).execute(db.kysely);
          outcomes.push(outcome.then(() => "done", (error: DbError) => error.code));
          await outcome;
          return "done";
        });
      }
      await using app = await FwFactory.create(module({ controllers: [QueueController] }));
      const server = await app.listen(0, { hostname: "127.0.0.1" });
      const { hostname, port } = new URL(server.url);
      const released = Promise.withResolvers<void>();
      const holding = db.transaction(() => released.promise);
      const sockets = [1, 2, 3].map(() => connect(Number(port), hostname));
      for (const socket of sockets) {
        socket.write(`GET /queued HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
      }
      while (outcomes.length < sockets.length) await delay(10);
      const waiting = fetch(`${server.url}/queued`);
      for (const socket of sockets) socket.destroy();
      await Promise.all(outcomes.slice(0, sockets.length)); // while the connection is in use
      released.resolve();
      await holding;
      assert.equal(await (await waiting).json(), "done");
      const ends = await Promise.all(outcomes);
      assert.deepEqual(ends.toSorted(), [...Array(3).fill("StatementTimeout"), "done"]);
      await db.close();
    });
  },
  { brands: SERVERS },
);

testOnEach(
  "work that a GET has passed to waitUntil() ends although its client has left",
  async ({ brand, url }) => {
    assert.ok(brand !== "sqlite");
    await captureLogs(["fw"], async () => {
      const db = await Db.open(DbOptions.fromUrl(url));
      const outcomeOf = (work: Promise<unknown>) =>
        work.then(() => "done", (error: DbError) => error.code);
      const outcomes: Promise<string>[] = [];
      const ended = Promise.withResolvers<void>();
      class KeepingController extends controller() {
        keeping = route.get("/keeping", async (_, c) => {
          const { signal } = c.req.raw;
          const left = new Promise((resolve) => signal.addEventListener("abort", resolve));
          const kept = db.transaction(async () => {
            await left;
            await sleep(brand, 1).execute(db.kysely); // its caller is checked several times
          });
          outcomes.push(outcomeOf(kept));
          c.executionCtx.waitUntil(kept);
          // that of the handler itself ends once there is no other work
          outcomes.push(outcomeOf(sleep(brand, 3600).execute(db.kysely)));
          await Promise.all(outcomes);
          ended.resolve();
        });
      }
      await using app = await FwFactory.create(module({ controllers: [KeepingController] }));
      const server = await app.listen(0, { hostname: "127.0.0.1" });
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname);
      socket.write(`GET /keeping HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
      while (!(await runningStatements(brand, url)).some((it) => it.includes("sleep("))) {
        await delay(20);
      }
      socket.destroy();
      await ended.promise;
      assert.deepEqual(await Promise.all(outcomes), ["done", "StatementTimeout"]);
      await db.close();
    });
  },
  { brands: SERVERS },
);

testOnEach(
  "a lookup that shares its statement goes on when the client of another has left",
  async ({ brand, url }) => {
    assert.ok(brand !== "sqlite");
    await captureLogs(["fw"], async () => {
      await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
      await db.createTables();
      const begun: string[] = [];
      class LookupController extends controller() {
        one = route.get("/:email", async ({ params: { email } }) => {
          begun.push(email);
          return { row: await db.user.findUnique({ where: { email } }) };
        });
      }
      await using app = await FwFactory.create(module({ controllers: [LookupController] }));
      const server = await app.listen(0, { hostname: "127.0.0.1" });
      const { hostname, port } = new URL(server.url);
      const arrived = async (count: number) => {
        while (begun.length < count) await delay(10);
      };
      const holding = db.transaction(() => sleep(brand, 1).execute(db.kysely));
      const leaving = connect(Number(port), hostname);
      leaving.write(`GET /first HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
      await arrived(1);
      const staying = ["b", "c"].map((email) => fetch(`${server.url}/${email}`));
      await arrived(3);
      // lookups that are repeated alone, as texts may equal others, wait behind this one
      const behind = db.transaction(() => sleep(brand, 1).execute(db.kysely));
      leaving.destroy();
      const answers = await Promise.all(staying.map(async (it) => await (await it).json()));
      assert.deepEqual(answers, [{ row: null }, { row: null }]);
      await Promise.all([holding, behind]);
    });
  },
  { brands: SERVERS },
);

testOnEach(
  "a transaction ends with its client, also by a statement that ends in spite of the cancellation",
  async ({ brand, url }) => {
    assert.ok(brand !== "sqlite");
    const stubborn = brand === "mysql"
      ? sql`do sleep(3600)`
      : sql`do $$ begin perform pg_sleep(3600);
      exception when query_canceled then null; end $$`;
    await captureLogs(["fw"], async (records) => {
      await using db = await Db.open(DbOptions.fromUrl(url));
      await db.createTables();
      const outcome = Promise.withResolvers<string>();
      class StubbornController extends controller() {
        one = route.get("/one", async () => {
          const work = db.transaction(async () => {
            await stubborn.execute(db.kysely);
            return await db.user.count();
          });
          outcome.resolve(work.then(() => "done", (error: DbError) => error.code));
          return await work;
        });
      }
      await using app = await FwFactory.create(module({ controllers: [StubbornController] }));
      const server = await app.listen(0, { hostname: "127.0.0.1" });
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname);
      socket.write(`GET /one HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
      while (!(await runningStatements(brand, url)).some((it) => it.includes("sleep("))) {
        await delay(20);
      }
      socket.destroy();
      assert.equal(await outcome.promise, "StatementTimeout");
      await app.close();
      assert.deepEqual(records.filter(({ level }) => level === "error"), []);
    });
  },
  { brands: SERVERS },
);
