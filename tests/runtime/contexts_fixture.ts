/**
 * An application whose transactions load a module, or use a part of the repositories that is loaded
 * at its first use. The first argument is how it is served: `listen`, `plain` for the server of Deno
 * without that of the framework; it is exported too.
 *
 * @module
 */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { controller, FwFactory, inject, module, route } from "../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../src/db/mod.ts";

const Note = model("notes", { id: field.integer().primaryKey(), text: field.text() });
class Db extends DbService.with({ note: Note }) {}

const Text = v.object({ text: v.string() });

/** What a transaction does first. */
const BEGINNINGS: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  import: () => import(`data:text/javascript,export default ${performance.now()}`),
  aggregate: ({ note }) => note.aggregate({ _count: true }),
  lock: ({ note }) => note.findFirst({ lock: "update" }),
  createMany: ({ note }) => note.createMany({ data: [{ id: 1000, text: "lost" }] }),
};

class NotesController extends controller("notes") {
  readonly #db = inject(Db);

  list = route.get("/", { response: v.array(Text) }, () => this.#db.note.findMany());
  add = route.post(
    "/",
    { body: Text },
    ({ body: { text } }) => this.#db.note.create({ data: { id: Number(text), text } }),
  );
  fail = route.post("/failures/:beginning", async ({ params: { beginning } }) => {
    await this.#db.transaction(async () => {
      await BEGINNINGS[beginning]!(this.#db);
      console.log(`begun by ${beginning}`);
      await delay(500);
      throw new Error("failed");
    }).catch(() => {});
    return "undone";
  });
}

const root = module({
  imports: [DbModule.forRoot(Db, DbOptions.fromUrl(process.env.DATABASE_URL ?? ""))],
  controllers: [NotesController],
});
const app = await FwFactory.create(root);
await app.get(Db).createTables();
const port = Number(process.env.PORT);
if (process.argv[2] === "listen") await app.listen(port, { hostname: "127.0.0.1" });
if (process.argv[2] === "plain") {
  Deno.serve({ port, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { url, method, headers } = request;
    const body = method === "GET" ? null : await request.text();
    return await app.request(new URL(url).pathname, { method, headers, body });
  });
}

export default { fetch: app.fetch };
