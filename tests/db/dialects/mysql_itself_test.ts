/** Statements of MySQL itself, which MariaDB takes in another form: no server runs them here. */
import assert from "node:assert/strict";
import {
  type DatabaseConnection,
  DummyDriver,
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
} from "kysely";
import { DbConnection } from "../../../src/db/connection/connection.ts";
import type { Dialect } from "../../../src/db/connection/dialect.ts";
import { DEFAULT_LIMITS } from "../../../src/db/connection/pool_limits.ts";
import { mysqlGrammar } from "../../../src/db/dialects/mysql/mysql.ts";
import { test } from "../../support/test.ts";
import { Blog } from "../support/blog.ts";

/** Runs an operation without a server, and returns its statements. */
async function statementsOf(run: (db: Blog) => Promise<unknown>): Promise<readonly string[]> {
  const statements: string[] = [];
  class Recorder extends DummyDriver {
    override async acquireConnection(): Promise<DatabaseConnection> {
      const connection = await super.acquireConnection();
      return {
        executeQuery(query) {
          statements.push(query.sql);
          return connection.executeQuery(query);
        },
        streamQuery: (query, size) => connection.streamQuery(query, size),
      };
    }
  }
  const dialect: Dialect = {
    grammar: mysqlGrammar({ collation: "utf8mb4_0900_bin", version: "9.7.4" }),
    kysely: {
      createAdapter: () => new MysqlAdapter(),
      createDriver: () => new Recorder(),
      createIntrospector: (db) => new MysqlIntrospector(db),
      createQueryCompiler: () => new MysqlQueryCompiler(),
    },
    close: () => Promise.resolve(),
  };
  await using db = new Blog(new DbConnection(dialect, DEFAULT_LIMITS));
  await run(db);
  return statements;
}

const POSTS = "select `id`, `author_id`, `title` from `posts` where";
const TAGGED = "exists (select 1 as `one` from `post_tags` inner join `tags` on " +
  "`tags`.`id` = `post_tags`.`tag_id` where `post_tags`.`post_id` = `posts`.`id` and " +
  "`tags`.`label` = ?)";

test("MySQL joins the rows of the first condition on many related rows only", async () => {
  const tagged = { tags: { some: { label: "red" } } };
  const table = [
    [tagged, TAGGED],
    [{ AND: [tagged, tagged] }, `(${TAGGED} and ${TAGGED} = 1)`],
  ] as const;
  for (const [where, expected] of table) {
    const [statement] = await statementsOf(({ post }) => post.findMany({ where }));
    assert.equal(statement, `${POSTS} ${expected}`);
  }
});

test("MySQL finds constants of the rows to write when it runs the statement", async () => {
  const where = { author: { is: { posts: { some: { id: { in: [] } } } } } };
  const [statement] = await statementsOf(({ post }) =>
    post.updateMany({ where, data: { title: "t" } })
  );
  assert.match(statement!, /sign\(connection_id\(\)\) = 0/);
  assert.doesNotMatch(statement!, /1 = 0/);
  const [read] = await statementsOf(({ post }) => post.findMany({ where }));
  assert.match(read!, /1 = 0/);
});
