/**
 * The code of jobs.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import { defaultCode } from "../fields/field_code.ts";
import type { FieldSpec } from "../fields/field_spec.ts";
import { schemaCode, valueCode } from "../fields/payload_code.ts";

/** A job to generate. */
export interface JobTemplate {
  /** The name. */
  readonly name: EntityName;
  /** The fields of its payload; a job without any has no payload. */
  readonly fields: readonly FieldSpec[];
  /** How many further runs it has after failed ones. */
  readonly retries: number | undefined;
  /** The specifier of the database. */
  readonly database: string;
  /** The specifier of the database for tests. */
  readonly testDatabase: string;
}

/** Returns the kind of a job. */
export function jobKind({ name: { pascal, kebab }, fields, retries }: JobTemplate): string {
  const schemas = fields.map((spec) => `    ${spec.name}: ${schemaCode(spec)},\n`);
  const body = fields.length === 0 ? "" : `  body: v.object({\n${schemas.join("")}  }),\n`;
  const more = retries === undefined ? "" : `  retries: ${retries},\n`;
  const options = body + more === "" ? "" : `, {\n${body}${more}}`;
  return `import { job } from "@fw/fw/jobs";
${fields.length === 0 ? "" : 'import * as v from "valibot";\n'}
/**
 * Enqueue it in the transaction of what it follows: a rollback leaves no job. The name is stored
 * with each job: renaming it strands those that wait.
 */
export const ${pascal} = job("${kebab}"${options});
`;
}

/** Returns the provider with the handler of a job. */
export function jobHandler({ name: { pascal, snake }, fields }: JobTemplate): string {
  const [first] = fields;
  const input = first === undefined ? "_" : "{ body }";
  const progress = first === undefined ? "attempt: run.attempt" : progressCode(first);
  return `import { ${pascal} } from "./${snake}_job.ts";

/** Runs each job at least once: \`run.id\` is the same in all runs of a job. */
export class ${pascal}Handler {
  handle = ${pascal}.handle(async (${input}, run) => {
    // replace this with the work, and pass run.signal to what it awaits
    await run.progress({ ${progress} });
  });
}
`;
}

/** Returns the test of a job. */
export function jobTest(
  { name: { pascal, snake }, fields, database, testDatabase }: JobTemplate,
): string {
  const [first] = fields;
  const progress = first === undefined
    ? "attempt: 1"
    : `${first.name}: ${valueCode(first) ?? defaultOf(first)}`;
  const needsFields = fields.some((spec) => valueCode(spec) !== undefined);
  return `import { module, provide } from "@fw/fw";
import { Jobs, JobsModule } from "@fw/fw/jobs";
import { createTestApplication } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { Db } from "${database}";
import { openTestDatabase } from "${testDatabase}";
import { ${pascal}Handler } from "./${snake}_handler.ts";
import { ${pascal} } from "./${snake}_job.ts";

const TestModule = module({
  imports: [JobsModule.forRoot(Db)],
  providers: [provide(Db, openTestDatabase), ${pascal}Handler], // and what the handler injects
});

Deno.test("${pascal} is enqueued with a commit, and handled", async () => {
  await using app = await createTestApplication(TestModule);
  const id = await app.get(Db).transaction(() => ${enqueueCode({ pascal, fields })});
  assert.deepEqual(await app.jobs.drain(), ["done"]);
  const handled = await app.get(Jobs).find(id);
  assert.deepEqual(handled?.progress, { ${progress} });
});
${
    needsFields
      ? `
Deno.test("${pascal} refuses a payload that does not satisfy its schema", async () => {
  await using app = await createTestApplication(TestModule);
  const invalid = {} as Parameters<typeof ${pascal}.enqueue>[0];
  await assert.rejects(${pascal}.enqueue(invalid), TypeError);
  assert.deepEqual(await app.jobs.enqueued(${pascal}), []);
});
`
      : ""
  }`;
}

/** Returns the code that enqueues a job. */
export function enqueueCode(
  { pascal, fields }: { readonly pascal: string; readonly fields: readonly FieldSpec[] },
): string {
  const values = fields.flatMap((spec) => {
    const value = valueCode(spec);
    return value === undefined ? [] : [`${spec.name}: ${value}`];
  });
  if (fields.length === 0) return `${pascal}.enqueue()`;
  return `${pascal}.enqueue({${values.length === 0 ? "" : ` ${values.join(", ")} `}})`;
}

/** Progress is JSON, which has no dates. */
function progressCode({ name, kind, isNullable }: FieldSpec): string {
  const value = `body.${name}`;
  if (kind !== "timestamp") return `${name}: ${value}`;
  return `${name}: ${isNullable ? `${value}?.toJSON() ?? null` : `${value}.toJSON()`}`;
}

function defaultOf(spec: FieldSpec): string {
  return spec.default === undefined ? "null" : defaultCode(spec);
}
