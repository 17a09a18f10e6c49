/**
 * Jobs: a kind, its handler and its test, in a project that runs jobs from then on.
 *
 * @module
 */
import type { Program } from "@babel/types";
import { posix } from "node:path";
import { addToDatabase } from "../../edit/source_file.ts";
import { callsOf, parseModule } from "../../edit/syntax.ts";
import type { EntityName } from "../../project/entity_name.ts";
import { PACKAGE } from "../../project/framework.ts";
import { APP_FILE, DATABASE_FILE, sourcesOf } from "../../project/project.ts";
import { CliError } from "../../terminal/cli_error.ts";
import { editFile, listInModule } from "../edit_project.ts";
import { readPayload } from "../fields/payload_code.ts";
import { type Kind, planCode } from "../kind.ts";
import { ensureDatabase, TEST_DATABASE_FILE } from "../project_database.ts";
import { type Generation, specifierOf } from "../target.ts";
import { enqueueCode, jobHandler, jobKind, type JobTemplate, jobTest } from "./job_code.ts";

/** A job, whose table is migrated with the first one. */
export const JOB: Kind = {
  name: "job",
  aliases: [],
  about: "a job with its handler, listed in the nearest module",
  example: "send-receipt orderId:integer email:text:email? --retries 5",
  hasPayload: true,
  generate: generateJob,
  migration: ({ plan }) =>
    plan.changes().some(({ path }) => path === DATABASE_FILE) ? "create_fw_jobs" : undefined,
};

const JOBS = `${PACKAGE}/jobs`;

const QUEUE_FILE = "src/queue.ts";

const QUEUE = `import { JobsModule } from "${JOBS}";
import { Db } from "./database.ts";

/** The jobs of the database, with the options of their workers. Modules that enqueue import it. */
export const QueueModule = JobsModule.forRoot(Db);
`;

/** The longest name of a kind of job. */
const MAX_NAME_LENGTH = 100;

/** Names that generated code imports or uses as globals, or that no module may declare. */
export const JOB_NAMES: ReadonlySet<string> = new Set(
  "Db Deno Infinity Jobs JobsModule NaN Parameters TestModule TypeError".split(" "),
);

async function generateJob(generation: Generation): Promise<void> {
  const { plan, project, target: { name, folder }, retries } = generation;
  const fields = readPayload(generation.fields);
  const file = posix.join(folder, `${name.snake}_job.ts`);
  const others = sourcesOf(project).filter(({ path }) => path !== file);
  const programs = await Promise.all(others.map(({ text }) => parseModule(text)));
  const parsed = programs.filter((program) => program !== undefined);
  checkName(name, { file, programs: parsed });
  await ensureDatabase(generation);
  await ensureJobs(generation, parsed);
  const template: JobTemplate = {
    name,
    fields,
    retries,
    database: specifierOf(folder, DATABASE_FILE),
    testDatabase: specifierOf(folder, TEST_DATABASE_FILE),
  };
  plan.create(file, jobKind(template));
  const handlerFile = posix.join(folder, `${name.snake}_handler.ts`);
  planCode(plan, handlerFile, { code: jobHandler(template), test: jobTest(template) });
  await listInModule(generation, {
    list: "providers",
    name: `${name.pascal}Handler`,
    file: handlerFile,
    folder,
  });
  plan.note(`To enqueue one: await ${enqueueCode({ pascal: name.pascal, fields })}`);
}

/**
 * @throws {CliError} if the name is too long, or that of another job or of something in its code
 */
function checkName(
  { pascal, kebab }: EntityName,
  { file, programs }: { readonly file: string; readonly programs: readonly Program[] },
): void {
  const refuse = (reason: string) =>
    new CliError(`Cannot use the name ${JSON.stringify(kebab)}: ${reason}`);
  if (JOB_NAMES.has(pascal)) throw refuse(`generated code uses another ${pascal}`);
  if (kebab.length > MAX_NAME_LENGTH) {
    throw refuse(`a kind of job has at most ${MAX_NAME_LENGTH} characters`);
  }
  const names = programs.flatMap((program) => callsOf(program, "job"))
    .map(({ arguments: [name] }) => name);
  if (names.some((name) => name?.type === "StringLiteral" && name.value === kebab)) {
    throw new CliError(`Cannot generate ${file}: src has another job of the name ${kebab}`);
  }
}

/** Plans that the database has the table of jobs, and that the application runs them. */
async function ensureJobs(generation: Generation, programs: readonly Program[]): Promise<void> {
  const { plan, target: { folder } } = generation;
  const hasTable = await editFile(generation, {
    path: DATABASE_FILE,
    change: (source) => addToDatabase(source, { name: "jobTables", from: JOBS }),
  });
  if (!hasTable) {
    plan.note(
      `Add ...jobTables of ${JOBS} to DbService.with({ … }) in ${DATABASE_FILE}: its code is not ` +
        "as expected",
    );
  }
  const hasOther = plan.read(QUEUE_FILE) === undefined &&
    programs.some((program) => callsOf(program, "JobsModule.forRoot").length > 0);
  if (hasOther) return;
  plan.createMissing({ [QUEUE_FILE]: QUEUE });
  const application = posix.dirname(APP_FILE);
  const queue = { list: "imports", name: "QueueModule", file: QUEUE_FILE } as const;
  const database = { list: "imports", name: "DatabaseModule", file: DATABASE_FILE } as const;
  await listInModule(generation, { ...database, folder: application });
  await listInModule(generation, { ...queue, folder: application });
  await listInModule(generation, { ...queue, folder });
}
