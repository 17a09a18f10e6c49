/** Uses a database and closes it; nothing must keep the process alive, and nothing ends it. */
import process from "node:process";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";

const Note = model("notes", { id: field.integer().primaryKey() });
class Notes extends DbService.with({ note: Note }) {}

const url = process.argv[2] ?? "";
const db = await Notes.open(DbOptions.fromUrl(url).poolMin(2).poolMax(3));
await db.createTables();
await Promise.all([1, 2, 3, 4, 5].map(() => db.transaction(() => db.note.create({ data: {} }))));
await db.close();
console.log("closed");
// It would be killed before this is over.
setTimeout(() => console.log("something kept it alive"), 3000).unref();
