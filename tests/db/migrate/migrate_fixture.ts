/** Runs slow migrations, and prints which it ran. */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DbMigrations, DbOptions } from "../../../src/db/mod.ts";

const options = DbOptions.fromUrl(process.argv[2] ?? "").migrations({
  "1_notes": {
    async up(kysely) {
      await kysely.schema.createTable("notes").addColumn("id", "integer").execute();
      await delay(300);
    },
  },
  "2_row": "insert into notes values (1)",
});
await using migrations = await DbMigrations.open(options);
console.log((await migrations.migrate()).join(" ") || "none");
