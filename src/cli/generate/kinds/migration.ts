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
    generation.plan.note(
      "Write the migration before the application starts again: it runs once, at the start",
    );
  },
};

/** Scripts that hold nothing at all are refused: what is written into them later would not run. */
const UP = `-- What is to change, such as: alter table cats add column age integer;
-- It runs once, when the application starts: write it before. To run it again, fw db rollback.
select 1;
`;

const DOWN = `-- What undoes it, such as: alter table cats drop column age;
select 1;
`;
