/**
 * Migrations.
 *
 * @module
 */
import type { Kind } from "../kind.ts";
import { addMigration, ensureDatabase } from "../project_database.ts";

/** A migration, to be written. */
export const MIGRATION: Kind = {
  name: "migration",
  aliases: [],
  about: "a migration, to be written",
  example: "add-age-to-customers",
  hasFolder: false,
  async generate(generation) {
    await ensureDatabase(generation);
    addMigration(generation, { name: generation.target.name.snake, up: UP, down: DOWN });
    generation.plan.note("Write the migration: it runs, once, as soon as it holds a statement");
  },
};

/** Scripts of nothing but comments are none: they run once they are written. */
const UP = "-- What is to change, such as: alter table cats add column age integer;\n";

const DOWN = "-- What undoes it, such as: alter table cats drop column age;\n";
