/** Runs a script as a migration, and prints its name if it ran. */
import process from "node:process";
import { DbMigrations, DbOptions } from "../../../src/db/mod.ts";

const [, , url = "", script = ""] = process.argv;
await using migrations = await DbMigrations.open(
  DbOptions.fromUrl(url).migrations({ "1_script": script }),
);
console.log((await migrations.migrate()).join(" ") || "none");
