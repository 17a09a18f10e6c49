/**
 * The SQL of values in JSON on each database.
 *
 * @module
 */
import { type Expression, sql, type SqlBool } from "kysely";
import type { JsonGrammar, JsonParts } from "./grammar.ts";

/** PostgreSQL's SQL of values in JSON. */
export const POSTGRES_JSON: JsonGrammar = {
  kinds: {
    null: ["null"],
    boolean: ["boolean"],
    number: ["number"],
    string: ["string"],
    array: ["array"],
  },
  locate(path, bind) {
    // The type of a step decides whether it is a name or an index.
    const steps = path.map((step) => {
      const slot = bind(step);
      return typeof step === "number" ? sql`${slot}::int4` : sql`${slot}::text`;
    });
    return (column, test) => {
      let at = sql`${column}::jsonb`;
      const isArray: Expression<unknown>[] = [];
      for (const [index, step] of steps.entries()) {
        // The index 0 of a whole value that is no array would be the value itself.
        if (typeof path[index] === "number") isArray.push(sql`jsonb_typeof(${at}) = 'array'`);
        at = sql`${at} -> ${step}`;
      }
      if (isArray.length === 0) return test(postgresParts(at));
      return test(
        postgresParts(sql`case when ${sql.join(isArray, sql.raw(" and "))} then ${at} end`),
      );
    };
  },
  number: (slot) => sql`${slot}::numeric`,
  text: (slot) => sql`${slot}::text`,
};

/** MySQL's SQL of values in JSON. */
export const MYSQL_JSON: JsonGrammar = {
  kinds: {
    null: ["NULL"],
    boolean: ["BOOLEAN"],
    number: ["INTEGER", "UNSIGNED INTEGER", "DOUBLE", "DECIMAL"],
    string: ["STRING"],
    array: ["ARRAY"],
  },
  locate(path, bind) {
    const paths = path.map((_, index) => pathOf(path.slice(0, index)));
    // The index 0 of what is no array would be the value itself.
    const arrays = paths.filter((_, index) => typeof path[index] === "number").map(bind);
    const whole = bind(pathOf(path));
    return (column, test) => {
      const at = sql`json_extract(${column}, ${whole})`;
      if (arrays.length === 0) return test(mysqlParts(at));
      const isArray = arrays.map((array) =>
        sql`json_type(json_extract(${column}, ${array})) = 'ARRAY'`
      );
      return test(mysqlParts(sql`if(${sql.join(isArray, sql.raw(" and "))}, ${at}, null)`));
    };
  },
  number: (slot) => sql`(${slot} + 0e0)`,
  text: (slot) => sql`cast(${slot} as binary)`,
};

/** SQLite's SQL of values in JSON. */
export const SQLITE_JSON: JsonGrammar = {
  kinds: {
    null: ["null"],
    boolean: ["true", "false"],
    number: ["integer", "real"],
    string: ["text"],
    array: ["array"],
  },
  locate(path, bind) {
    const steps = path.map((step, index) => ({ row: `~${index}j`, slot: bind(step) }));
    return (column, test) => {
      const last = steps.at(-1);
      if (!last) {
        return test(sqliteParts(sql`json_type(${column})`, sql`json_extract(${column}, '$')`));
      }
      // A path in SQLite's syntax cannot have every name in every version.
      const rows = steps.map(({ row }, index) => {
        const outer = steps[index - 1]?.row;
        const whole = outer === undefined ? column : container(outer);
        return sql`json_each(${whole}) as ${sql.id(row)}`;
      });
      const keys = steps.map(({ row, slot }) => sql`${sql.id(row, "key")} = ${slot}`);
      return sql<SqlBool>`(select ${test(sqliteRow(last.row))} from ${sql.join(rows)}
        where ${sql.join(keys, sql.raw(" and "))} limit 1)`;
    };
  },
  number: (slot) => sql`${slot}`,
  text: (slot) => sql`${slot}`,
};

function postgresParts(value: Expression<unknown>): JsonParts {
  return {
    type: sql`jsonb_typeof(${value})`,
    number: sql`(${value})::numeric`,
    // Compared byte by byte, regardless of the collation of the database.
    text: sql`((${value}) #>> '{}') collate "C"`,
    isTrue: sql<SqlBool>`(${value})::boolean`,
    has: (test) =>
      sql<SqlBool>`exists (select 1 from jsonb_array_elements(${value}) as "~e" (v)
        where ${test(postgresParts(sql`"~e".v`))})`,
  };
}

/** Returns a path as text: a name in quotes is a string of JSON, in which nothing is special. */
function pathOf(path: readonly (string | number)[]): string {
  const steps = path.map((step) =>
    typeof step === "number" ? `[${step}]` : `.${JSON.stringify(step)}`
  );
  return `$${steps.join("")}`;
}

function mysqlParts(value: Expression<unknown>): JsonParts {
  return {
    type: sql`json_type(${value})`,
    number: sql`(${value} + 0e0)`,
    // Compared byte by byte: collations ignore trailing spaces.
    text: sql`cast(json_unquote(${value}) as binary)`,
    isTrue: sql<SqlBool>`json_unquote(${value}) = 'true'`,
    has: (test) =>
      sql<SqlBool>`exists (select 1 from
        json_table(${value}, '$[*]' columns (v json path '$')) as \`~e\`
        where ${test(mysqlParts(sql.raw("`~e`.v")))})`,
  };
}

/** Returns the value of a row of `json_each`, if that can have members. */
function container(row: string): Expression<unknown> {
  return sql`iif(${sql.id(row, "type")} in ('object', 'array'), ${sql.id(row, "value")}, null)`;
}

function sqliteRow(row: string): JsonParts {
  return sqliteParts(sql.id(row, "type"), sql.id(row, "value"));
}

function sqliteParts(type: Expression<unknown>, value: Expression<unknown>): JsonParts {
  return {
    type,
    number: value,
    text: value,
    isTrue: sql<SqlBool>`${value} = 1`,
    has: (test) =>
      sql<SqlBool>`exists (select 1 from json_each(${value}) as "~e" where ${
        test(sqliteRow("~e"))
      })`,
  };
}
