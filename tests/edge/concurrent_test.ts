/**
 * Many requests at once in workerd, which ends a request that waits for another one alone. It does so
 * when nothing else happens in its process, as while a database elsewhere answers.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "../support/test.ts";
import { bundle } from "./bundle.ts";
import { Worker } from "./worker.ts";

const { code } = await bundle(`
import { sql } from "kysely";
import { D1Dialect } from "kysely-d1";
import { controller, FwFactory, inject, module, route } from "./mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "./src/db/mod.ts";
import { OAuth2Client, OAuth2Options } from "./src/oauth2/mod.ts";

const Note = model("notes", { id: field.integer().primaryKey(), text: field.text() });
class Db extends DbService.with({ note: Note }) {}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const running = { now: 0, most: 0 };
function elsewhere(database, ms) {
  const all = (sql, values) => async () => {
    running.most = Math.max(running.most, ++running.now);
    await sleep(ms(sql));
    try {
      return await database.prepare(sql).bind(...values).all();
    } finally {
      running.now--;
    }
  };
  return { prepare: (sql) => ({ bind: (...values) => ({ all: all(sql, values) }) }) };
}

class NotesController extends controller() {
  #db = inject(Db);
  add = route.post("/notes", async () => (await this.#db.note.create({ data: { text: "a" } })).id);
  one = route.get("/notes/:id", async ({ params: { id } }) =>
    (await this.#db.note.findUnique({ where: { id: Number(id) } })).text);
  list = route.get("/notes", async () => (await this.#db.note.findMany()).length);
  most = route.get("/most", () => running.most);
  hang = route.get("/hang", () => this.#db.note.count());
}

class TokensController extends controller("tokens") {
  #client;
  #of(c) {
    const { TOKEN_URL: tokenUrl } = c.env;
    const options = { clientId: "a", clientSecret: "b", tokenUrl };
    return this.#client ??= new OAuth2Client(new OAuth2Options(options));
  }
  own = route.get("/own", async (_, c) => (await this.#of(c).cachedClientCredentials()).accessToken);
  refreshed = route.get("/refreshed", async (_, c) =>
    (await this.#of(c).refresh("first")).accessToken);
}

let app;
export default {
  async fetch(request, bindings, context) {
    if (!app) {
      const database = elsewhere(bindings.DB, (sql) => sql.includes("count") ? 60_000 : 100);
      const options = DbOptions.fromDialect(new D1Dialect({ database }));
      const started = await FwFactory.create(module({
        imports: [DbModule.forRoot(Db, options.poolMax(3).statementTimeoutMs(3_000))],
        controllers: [NotesController, TokensController],
      }));
      await started.get(Db).createTables();
      app ??= started.enableOpenApi({ title: "Notes", version: "1" }).enableHealthCheck("/health", {
        indicators: { slow: () => sleep(200), db: () => started.get(Db).ping() },
      });
    }
    return await app.fetch(request, bindings, context);
  },
};
`);

/** Serves tokens, each after a while. */
async function startTokens() {
  let count = 0;
  const server = createServer(async (request, response) => {
    request.resume();
    await delay(200);
    const answer = { access_token: `token-${++count}`, token_type: "bearer", expires_in: 3600 };
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

test("many requests of a Worker wait for one another, and all are answered", async () => {
  await using tokens = await startTokens();
  await using worker = await Worker.start(code, {
    text: { TOKEN_URL: tokens.url },
    databases: ["DB"],
  });
  const send = async (path: string, method = "GET") => {
    const response = await fetch(worker.url + path, {
      method,
      signal: AbortSignal.timeout(60_000),
    });
    return `${response.status} ${await response.text()}`;
  };
  const all = async (count: number, path: (index: number) => string, method?: string) =>
    await Promise.all(Array.from({ length: count }, (_, i) => send(path(i), method)));
  const distinct = async (count: number, path: string) => [
    ...new Set(await all(count, () => path)),
  ];

  await send("/notes");
  for (
    const [path, start] of [["/openapi.json", '{"openapi":"3.1'], ["/openapi.yaml", "openapi: 3.1"]]
  ) {
    const [document = "", ...others] = await distinct(6, path!);
    assert.deepEqual([document.startsWith(`200 ${start}`), others], [true, []]);
  }
  const added = await all(12, () => "/notes", "POST");
  assert.deepEqual(added.toSorted(), Array.from({ length: 12 }, (_, i) => `200 ${i + 1}`).sort());
  assert.deepEqual(await all(12, (i) => `/notes/${i + 1}`), Array(12).fill('200 "a"'));
  assert.deepEqual(await distinct(12, "/notes"), ["200 12"]);
  assert.equal(await send("/most"), "200 3");
  const healthy = '200 {"status":"ok","checks":{"slow":{"status":"up"},"db":{"status":"up"}}}';
  assert.deepEqual(await distinct(6, "/health"), [healthy]);
  assert.deepEqual(await distinct(6, "/tokens/own"), ['200 "token-1"']);
  assert.deepEqual(await distinct(6, "/tokens/refreshed"), ['200 "token-2"']);

  // a statement that hangs ends at its limit, whichever request has begun another one before
  const hung = await all(6, () => "/hang");
  assert.deepEqual(hung.map((answer) => answer.slice(0, 4)), Array(6).fill("503 "));
  assert.deepEqual(await distinct(6, "/notes"), ["200 12"]);
}, { slow: true });
