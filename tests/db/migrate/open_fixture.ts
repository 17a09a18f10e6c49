/** Opens a database with a slow migration, creates a table, and prints how many rows the two have. */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";

const Note = model("notes", { id: field.integer().primaryKey(), text: field.text() });
const Tag = model("tags", {
  id: field.uuid().primaryKey(),
  note: field.integer().references(Note),
});

const options = DbOptions.fromUrl(process.argv[2] ?? "sqlite::memory:").migrations({
  "1_notes": {
    async up(kysely) {
      await kysely.schema.createTable("notes").addColumn("id", "bigint", (id) => id.primaryKey())
        .addColumn("text", "varchar(99)").execute();
      await delay(300);
      await kysely.insertInto("notes").values({ id: 1, text: "one" }).execute();
    },
  },
});
await using db = await DbService.with({ note: Note, tag: Tag }).open(options);
await db.createTables();
await db.tag.create({ data: { id: crypto.randomUUID(), note: 1 } });
console.log(`notes ${await db.note.count()}`);
