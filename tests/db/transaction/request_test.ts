/** A transaction for each request: in an interceptor, and in middleware. */
import assert from "node:assert/strict";
import {
  ConflictException,
  type Context,
  controller,
  inject,
  type Interceptor,
  module,
  type NextHandler,
  route,
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

/** Writes a note named `text`, and fails unless that is `kept`. */
class Notes extends controller("notes") {
  readonly #db = inject(Db);
  bare = route.post("/bare/:text", ({ params }) => this.#write(params.text));
  atomic = route.post(
    "/atomic/:text",
    { interceptors: [Atomic] },
    ({ params }) => this.#write(params.text),
  );
  async #write(text: string) {
    await this.#db.note.create({ data: { text } });
    if (text !== "kept") throw new ConflictException("It fails");
    return { text };
  }
}

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

type Middleware = (c: Context, next: () => Promise<void>) => Promise<void>;

async function appWith(middleware?: (db: () => Db) => Middleware) {
  const root = module({
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))],
    controllers: [Notes],
  });
  const app = await createTestApplication(root, {
    setUp: (app) => middleware && app.use(middleware(() => app.get(Db))),
  });
  await app.get(Db).createTables();
  return {
    post: async (path: string) => (await app.request(`/notes/${path}`, { method: "POST" })).status,
    texts: async () => (await app.get(Db).note.findMany()).map(({ text }) => text),
    [Symbol.asyncDispose]: () => app.close(),
  };
}
