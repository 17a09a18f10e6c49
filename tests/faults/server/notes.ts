/** Notes of tenants, which show each caller's identity, request, rows and transactions. */
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import {
  ConflictException,
  type Context,
  controller,
  inject,
  type Module,
  module,
  type OnModuleInit,
  requestId,
  route,
  slot,
} from "../../../mod.ts";
import { DbModule, type DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { OAuth2Principal } from "../../../src/oauth2/mod.ts";

const Note = model("notes", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  subject: field.text(),
  text: field.text(),
});

const Audit = model("audits", {
  id: field.integer().primaryKey(),
  subject: field.text(),
  text: field.text(),
});

/** The database of the notes. */
export class NotesDb extends DbService.with({ note: Note, audit: Audit }) {}

/** What middleware has read from the request. */
export const markSlot = slot<string>("mark");

class NotesController extends controller("notes") implements OnModuleInit {
  readonly #db = inject(NotesDb);

  onModuleInit(): Promise<void> {
    return this.#db.createTables();
  }

  who = route.get("/who", { args: { me: OAuth2Principal } }, async ({ me }, c) => {
    await pause();
    return { ...callerOf(me), ...markOf(c) };
  });

  list = route.get("/", { args: { me: OAuth2Principal } }, async ({ me }, c) => {
    const { tenant } = callerOf(me);
    const notes = this.#db.note.scoped({ tenant_id: tenant });
    await pause();
    const rows = await notes.findMany({ orderBy: { id: "desc" }, take: 10 });
    return { rows, ...callerOf(me), ...markOf(c) };
  });

  write = route.post(
    "/",
    {
      args: { me: OAuth2Principal },
      body: v.object({ text: v.string(), fails: v.boolean() }),
    },
    async ({ me, body: { text, fails } }, c) => {
      const { tenant, subject } = callerOf(me);
      const count = await this.#db.transaction(async () => {
        await this.#db.note.scoped({ tenant_id: tenant }).create({ data: { subject, text } });
        await pause();
        await this.#db.audit.create({ data: { subject, text } });
        const count = await this.#db.note.count({ where: { text } });
        if (fails) throw new ConflictException(`${subject} ${text}`);
        return count;
      });
      return { count, text, ...callerOf(me), ...markOf(c) };
    },
  );
}

/** The notes on a database. */
export function notesModule(options: DbOptions): Module {
  return module({
    name: "NotesModule",
    imports: [DbModule.forRoot(NotesDb, options)],
    controllers: [NotesController],
  });
}

function callerOf({ subject, claims }: OAuth2Principal) {
  return { subject, tenant: String(claims.tenant_id) };
}

function markOf(c: Context) {
  return { requestId: requestId(c), mark: markSlot.get(c) };
}

/** Lets other requests run, for a random time. */
async function pause(): Promise<void> {
  if (Math.random() < 0.5) await delay(Math.random() * 10);
}
