/** A transaction for each request: in an interceptor, and in middleware. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import {
  ConflictException,
  type Context,
  controller,
  FwFactory,
  inject,
  type Interceptor,
  module,
  type NextHandler,
  route,
  upgradeWebSocket,
} from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

const Note = model("notes", { id: field.integer().primaryKey(), text: field.text() });
class Db extends DbService.with({ note: Note }) {}

class Atomic implements Interceptor {
  readonly #db = inject(Db);
  intercept(_: Context, next: NextHandler) {
    return this.#db.transaction(async () => await next());
  }
}

/** The results of work that ended later. */
const done: (readonly [name: string, result: string])[] = [];

/** Writes a note named `text`, and fails unless that is `kept`. */
class Notes extends controller("notes") {
  readonly #db = inject(Db);
  bare = route.post("/bare/:text", ({ params }) => this.#write(params.text));
  atomic = route.post(
    "/atomic/:text",
    { interceptors: [Atomic] },
    ({ params }) => this.#write(params.text),
  );
  late = route.post("/late", { interceptors: [Atomic] }, async (_, c) => {
    const committed = Promise.withResolvers<void>();
    const count = async () => {
      await committed.promise;
      await delay(1); // until the transaction has ended
      return await this.#db.note.count();
    };
    const begin = (name: string) => {
      const work = count().then(String, (error: Error) => error.message);
      c.executionCtx.waitUntil(work.then((result) => done.push([name, result])));
    };
    begin("inside");
    await this.#db.afterCommit(() => {
      begin("after the commit");
      committed.resolve();
    });
    await this.#db.note.count();
    return {};
  });
  socket = route.get("/socket", { interceptors: [Atomic] }, (_, c) =>
    upgradeWebSocket(c, {
      onMessage: async ({ data }, socket) => {
        const created = this.#db.note.create({ data: { text: String(data) } });
        socket.send(await created.then(({ text }) => text, (error: Error) => error.message));
      },
    }));
  async #write(text: string) {
    await this.#db.note.create({ data: { text } });
    if (text !== "kept") throw new ConflictException("It fails");
    return { text };
  }
}

const ROOT = module({
  imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))],
  controllers: [Notes],
});

test("a transaction of an interceptor is rolled back if the handler throws", async () => {
  await using app = await appWith();
  assert.equal(await app.post("atomic/failed"), 409);
  assert.equal(await app.post("atomic/kept"), 200);
  assert.deepEqual(await app.texts(), ["kept"]);
});

test("a transaction of middleware is rolled back if it throws the error of the context", async () => {
  await using app = await appWith((db) => async (c, next) => {
    await db().transaction(async () => {
      await next(); // resolves for an exception too, which has become a response
      if (c.error) throw c.error;
    });
  });
  assert.equal(await app.post("bare/failed"), 409);
  assert.equal(await app.post("bare/kept"), 200);
  assert.deepEqual(await app.texts(), ["kept"]);
});

test("work of a request is outside of its transaction if it begins after the commit", async () => {
  await using app = await appWith();
  done.length = 0;
  assert.equal(await app.post("late"), 200);
  await app[Symbol.asyncDispose]();
  assert.deepEqual(done.toSorted(), [
    ["after the commit", "0"],
    ["inside", "Cannot count notes: its transaction has ended, which did not await it"],
  ]);
});

test("messages of a WebSocket are outside of the transaction in which it is opened", async () => {
  const app = await FwFactory.create(ROOT);
  await app.get(Db).createTables();
  const { port } = await app.listen(0);
  const client = new WebSocket(`ws://127.0.0.1:${port}/notes/socket`);
  try {
    const answer = new Promise<MessageEvent>((resolve, reject) => {
      client.onmessage = resolve;
      client.onclose = client.onerror = reject;
    });
    client.onopen = () => client.send("by a message");
    assert.equal((await answer).data, "by a message");
    assert.equal(await app.get(Db).note.count(), 1);
  } finally {
    const closed = new Promise((resolve) => client.onclose = resolve);
    client.close();
    await closed;
    await app.close();
  }
});

type Middleware = (c: Context, next: () => Promise<void>) => Promise<void>;

async function appWith(middleware?: (db: () => Db) => Middleware) {
  const app = await createTestApplication(ROOT, {
    setUp: (app) => middleware && app.use(middleware(() => app.get(Db))),
  });
  await app.get(Db).createTables();
  return {
    post: async (path: string) => (await app.request(`/notes/${path}`, { method: "POST" })).status,
    texts: async () => (await app.get(Db).note.findMany()).map(({ text }) => text),
    [Symbol.asyncDispose]: () => app.close(),
  };
}
