/** Projects whose models change, for the tests of differences. */
import assert from "node:assert/strict";
import { sql } from "kysely";
import {
  DbMigrations,
  DbOptions,
  DbService,
  diffSchema,
  field,
  type Migrations,
  model,
  type SchemaDiffOptions,
} from "../../../../src/db/mod.ts";
import type { Models } from "../../../../src/db/service.ts";

export const Author = model("authors", { id: field.integer().primaryKey(), name: field.text() });
export const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(Author, { onDelete: "cascade" }),
  title: field.text(),
  state: field.enum(["draft", "published"]).default("draft"),
});

/** A project: its models change, and each difference is a migration. */
export class Project {
  readonly options: DbOptions;
  migrations: Record<string, Migrations[string]> = {};

  constructor(url: string) {
    this.options = DbOptions.fromUrl(url);
  }

  /** Creates a project with the tables of authors and posts, and runs statements. */
  static async begin(url: string, ...statements: readonly string[]): Promise<Project> {
    const project = new Project(url);
    await project.become({ author: Author, post: Post });
    await project.run(...statements);
    return project;
  }

  get current(): DbOptions {
    return Object.keys(this.migrations).length > 0
      ? this.options.migrations(this.migrations)
      : this.options;
  }

  diff(models: Models, how: SchemaDiffOptions = {}) {
    const none: Migrations = { "0000_none": "select 1" };
    const options = this.options.migrations({ ...none, ...this.migrations });
    return diffSchema(DbService.with(models), options, how);
  }

  /** Writes the migrations of models, runs them, and checks the tables. */
  async become(models: Models, how: SchemaDiffOptions = {}) {
    const diff = await this.diff(models, how);
    for (const { up, down } of diff.migrations) {
      const number = String(Object.keys(this.migrations).length + 1).padStart(4, "0");
      this.migrations[`${number}_change`] = { up, down };
    }
    await using db = await DbService.with(models).open(this.current);
    await db.checkTables();
    const { externalTables = [] } = how;
    assert.deepEqual((await this.diff(models, { externalTables })).changes, []);
    return diff;
  }

  async rollBack(steps: number): Promise<void> {
    await using migrations = await DbMigrations.open(this.current);
    await migrations.rollBack({ steps });
  }

  async rows(table: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    await using db = await DbService.with({}).open(this.options);
    const { rows } = await sql<Record<string, unknown>>`select * from ${
      sql.table(table)
    } order by 1`.execute(db.kysely);
    return rows.map((row) => ({ ...row }));
  }

  async run(...statements: readonly string[]): Promise<void> {
    await using db = await DbService.with({}).open(this.options);
    for (const statement of statements) await sql.raw(statement).execute(db.kysely);
  }
}
