import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { VERSION } from "../../src/cli/project/framework.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { buildNpmPackage } from "./npm_package.ts";
import { bundle } from "../edge/bundle.ts";
import { Site } from "../edge/site.ts";
import { Worker } from "../edge/worker.ts";
import { LEFT_OUT } from "./left_out.ts";
import { ROOT } from "../support/project.ts";
import { IS_ALL, testOn } from "../support/test.ts";
import { BUN, NODE, OLDEST_NODE, runtimeOf } from "../support/runtimes.ts";
import { newNpmProject, succeed } from "./npm_project.ts";
import { serveNpmRegistry } from "./npm_registry.ts";
import { addedBy, assertQuickStart } from "./quick_start.ts";

const COMPILERS = ["typescript@5.9.3", "typescript@7.0.2"];

/** The module resolutions of TypeScript, in a strict project without `skipLibCheck`. */
const RESOLUTIONS = [
  { module: "nodenext", exactOptionalPropertyTypes: true },
  { module: "preserve", moduleResolution: "bundler", exactOptionalPropertyTypes: false },
];

/** A Worker that imports modules that its bundle leaves out. */
const METRICS = `
import { FwFactory, module } from "@fw/fw";
const app = await FwFactory.create(module({}));
await app.enableMetrics().ready();
export default { fetch: app.fetch };
`;

/** What another package of a project imports, whose types are inferred. */
const DECLARED = `
import { controller, FwFactory, inject, module, route } from "@fw/fw";
import { createClient } from "@fw/fw/client";
import { DbModule, DbOptions, DbService, field, hasMany, model } from "@fw/fw/db";
import { createSchemaOf, schemaOf } from "@fw/fw/db/schemas";
import { job, jobTables, schedule } from "@fw/fw/jobs";
export const Owner = model("owners", { id: field.integer().primaryKey(), name: field.text() });
export const Cat = model("cats", {
  id: field.uuid().primaryKey(),
  extra: field.json(),
  ownerId: field.integer().references(Owner),
});
export class Db extends DbService.with(
  { cat: Cat, owner: Owner, ...jobTables },
  { owner: { cats: hasMany(Cat.ownerId) } },
) {}
export const CatSchema = schemaOf(Cat);
export const Sweep = job("sweep");
export class CatsController extends controller("cats") {
  db = inject(Db);
  create = route.post("/", { body: createSchemaOf(Cat) }, ({ body }) => body);
  list = route.get("/", () => this.db.cat.findMany());
}
export class Handlers {
  tick = schedule("* * * * *", () => {});
  sweep = Sweep.handle(() => {});
}
export const AppModule = module({
  controllers: [CatsController],
  providers: [Handlers],
  imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))],
});
export const create = () => FwFactory.create(AppModule);
export const client = createClient<{ cats: CatsController }>("http://localhost");
`;

/** Opens the databases of its arguments, where no server listens, and prints why that failed. */
const OPEN = `
import { DbOptions, DbService } from "@fw/fw/db";
class Db extends DbService.with({}) {}
for (const url of process.argv.slice(2)) {
  await Db.open(DbOptions.fromUrl(url)).catch(({ message }) => console.log(message));
}
`;
const NOWHERE = ["postgres://u@127.0.0.1:1/d", "mysql://u@127.0.0.1:1/d"];

/** The packages of an npm install of the framework alone. */
const INSTALLED = [
  "@fw/fw",
  "@hono/node-server",
  "@logtape/logtape",
  "@opentelemetry/api",
  "@standard-schema/spec",
  "hono",
  "jose",
  "kysely",
  "oauth4webapi",
  "ws",
];

/** The packages of `fw prove`. */
const PROOF_PACKAGES = ["fast-check", "@hyperjump/json-schema"];

/** The most bytes of their files: 11.1 MB, and some room for releases of theirs. */
const INSTALLED_BYTES = 11_400_000;

/** Serves metrics and documents as YAML; prints why that failed. */
const METRICS_AND_YAML = `
import { FwFactory, module } from "@fw/fw";
import { toYaml } from "@fw/fw/openapi";
const app = await FwFactory.create(module({}));
console.log((await toYaml(await app.openApi())).split("\\n")[0]);
app.enableMetrics();
try {
  await app.ready();
  console.log((await app.request("/metrics")).status);
} catch ({ message }) {
  console.log(message);
}
`;

const SCHEDULE = `
import { FwFactory, module } from "@fw/fw";
import { DbModule, DbOptions, DbService } from "@fw/fw/db";
import { JobsModule, jobTables, schedule } from "@fw/fw/jobs";
class Db extends DbService.with({ ...jobTables }) {}
class Reports {
  daily = schedule("@daily", () => {});
}
try {
  await FwFactory.create(module({
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")), JobsModule.forRoot(Db)],
    providers: [Reports],
  }));
  console.log("started");
} catch ({ message }) {
  console.log(message);
}
`;

/** Returns the edge example with the imports of an application outside of the checkout. */
function edgeExample(): string {
  return readFileSync(join(ROOT, "examples/edge.ts"), "utf8")
    .replaceAll(/"\.\.\/(?:src\/)?(\w+\/)?mod\.ts"/g, (_, name = "") => `"${join("@fw/fw", name)}"`)
    .replaceAll('/"', '"');
}

const denoTest = testOn(["deno"], "it builds the package, and runs the other runtimes");
const isRun = "Deno" in globalThis && IS_ALL;
const tarball = isRun ? await build() : "";

denoTest(
  "npm installs the package: the quick start runs on Node, and its types compile",
  async () => {
    await using registry = await serveNpmRegistry(tarball);
    using project = newNpmProject(registry.origin);
    const cwd = project.path;
    const oldest = await runtimeOf(OLDEST_NODE);
    const env = { PATH: dirname(oldest) + delimiter + process.env["PATH"] };
    await succeed(["npm", "install", ...addedBy("npm install")], { cwd, env });
    await succeed(["npm", "pkg", "set", ...addedBy("npm pkg set")], { cwd, env });
    assert.equal(await succeed(["npx", "fw", "--version"], { cwd, env }), VERSION);
    for (const node of [oldest, await runtimeOf(NODE)]) {
      assert.equal(await succeed([node, "import_all.mjs"], { cwd }), "true");
      await assertQuickStart({ cwd, program: node });
    }
    writeFileSync(join(cwd, "open.mjs"), OPEN);
    const open = () => succeed([oldest, "open.mjs", ...NOWHERE], { cwd });
    assert.equal(
      await open(),
      "Cannot load database driver: install postgres and kysely-postgres-js\n" +
        "Cannot load database driver: install mysql2",
    );
    const others = ["postgres", "kysely-postgres-js", "mysql2", ...PROOF_PACKAGES];
    await succeed(["npm", "install", ...others], { cwd, env });
    assert.equal(await succeed([oldest, "import_all.mjs", "proofs"], { cwd }), "true");
    assert.match(await open(), /^Cannot open PostgreSQL database .*\nCannot open MySQL database /);
    writeFileSync(join(cwd, "declared.ts"), DECLARED);
    for (const options of RESOLUTIONS) {
      const emitted = { declaration: true, noEmit: true };
      const compilerOptions = { ...options, ...emitted, target: "es2022", strict: true };
      const config = { compilerOptions, files: ["main.ts", "all.ts", "declared.ts"] };
      writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify(config));
      await Promise.all(
        COMPILERS.map((compiler) => succeed(["npx", "-y", "-p", compiler, "tsc"], { cwd, env })),
      );
    }
  },
  { slow: true },
);

const PROOF = `import { controller, module, route } from "@fw/fw";
import { prove } from "@fw/fw/testing";

class CatsController extends controller("cats") {
  list = route.get("/", () => ["Tom"]);
}
const proof = prove(module({ name: "AppModule", controllers: [CatsController] }));
try {
  console.log((await proof.run({ requests: 50 })).toText());
} catch (error) {
  console.log(error.message);
}
`;

denoTest(
  "npm installs few packages; metrics, schedules and proofs need more, which their errors name",
  async () => {
    await using registry = await serveNpmRegistry(tarball);
    using project = newNpmProject(registry.origin);
    const cwd = project.path;
    await succeed(["npm", "install", "@fw/fw"], { cwd });
    const folders = await succeed(["npm", "ls", "--all", "--parseable"], { cwd });
    const names = folders.split("\n").slice(1).map((path) => path.split("node_modules/").at(-1));
    assert.deepEqual(names.toSorted(), INSTALLED);
    const files = readdirSync(join(cwd, "node_modules"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile());
    const bytes = files.reduce(
      (sum, file) => sum + statSync(join(file.parentPath, file.name)).size,
      0,
    );
    assert.ok(bytes < INSTALLED_BYTES, `${bytes} bytes`);
    assert.ok(bytes > INSTALLED_BYTES / 2, `${bytes} bytes are too few for all of it`);

    writeFileSync(join(cwd, "metrics.mjs"), METRICS_AND_YAML);
    const node = await runtimeOf(NODE);
    const metrics = () => succeed([node, "metrics.mjs"], { cwd });
    assert.equal(await metrics(), "openapi: 3.1.1\nCannot serve metrics: npm install prom-client");
    await succeed(["npm", "install", "prom-client"], { cwd });
    assert.equal(await metrics(), "openapi: 3.1.1\n200");

    writeFileSync(join(cwd, "schedule.mjs"), SCHEDULE);
    const scheduled = () => succeed([node, "schedule.mjs"], { cwd });
    assert.equal(await scheduled(), "Cannot run schedules: npm install croner");
    await succeed(["npm", "install", "croner"], { cwd });
    assert.equal(await scheduled(), "started");

    writeFileSync(join(cwd, "prove.mjs"), PROOF);
    const proof = () => succeed([node, "prove.mjs"], { cwd });
    const install = `npm install --save-dev ${PROOF_PACKAGES.join(" ")}`;
    assert.equal(await proof(), `Cannot prove: a package is missing; run ${install}`);
    await succeed(["npm", ...install.split(" ").slice(1)], { cwd });
    assert.match(await proof(), /^document {2}50 requests: every answer as documented, no 5xx; /);
  },
  { slow: true },
);

denoTest(
  "a bundle of the installed package for the edge runs in workerd",
  async () => {
    await using registry = await serveNpmRegistry(tarball);
    using project = newNpmProject(registry.origin);
    const cwd = project.path;
    await succeed(["npm", "install", ...addedBy("npm install"), "kysely-d1@0.4.0"], { cwd });
    const { code, bytesOf } = await bundle(edgeExample(), { project: cwd });
    const files = Object.keys(bytesOf).join("\n");
    for (const name of LEFT_OUT) assert.ok(!files.includes(`node_modules/${name}/`), name);
    await using site = await Site.start(code);
    const { status } = await site.send("POST /api/v1/notes", {
      subject: "ada",
      json: { text: "Tea" },
    });
    assert.equal(status, 201);
    const part = await bundle(`export { HttpException } from "@fw/fw";`, { project: cwd });
    assert.ok(part.code.length < 10_000, `${part.code.length} bytes for one class`);
    const metrics = await bundle(METRICS, { project: cwd });
    await assert.rejects(Worker.start(metrics.code), /bundles for the edge leave them out/);
  },
  { slow: true },
);

denoTest("bun add installs the package: the quick start is served by Bun", async () => {
  await using registry = await serveNpmRegistry(tarball);
  using project = newNpmProject(registry.origin);
  const cwd = project.path;
  const bun = await runtimeOf(BUN);
  // without a cached build of the same release
  const env = { BUN_INSTALL_CACHE_DIR: join(cwd, ".cache") };
  await succeed([bun, "add", ...addedBy("bun add")], { cwd, env });
  assert.equal(await succeed([bun, "import_all.mjs"], { cwd }), "true");
  await assertQuickStart({ cwd, program: bun });
}, { slow: true });

denoTest("deno add installs the package for npm: the quick start is served by Deno", async () => {
  await using registry = await serveNpmRegistry(tarball);
  using project = newNpmProject(registry.origin);
  const cwd = project.path;
  const env = { DENO_DIR: join(cwd, ".cache") };
  const add = addedBy("npm install").map((name) => `npm:${name}`);
  await succeed([process.execPath, "add", ...add], { cwd, env });
  await succeed([process.execPath, "check", "main.ts", "all.ts"], { cwd, env });
  await succeed([process.execPath, "run", "--no-prompt", "all.ts"], { cwd, env });
  await assertQuickStart({ cwd, env });
}, { slow: true });

/** Builds the package for all tests, and starts the bundler, whose process all tests share. */
async function build(): Promise<string> {
  const folder = new TemporaryFolder();
  globalThis.addEventListener("unload", () => folder[Symbol.dispose]());
  const file = join(folder.path, "fw.tgz");
  await buildNpmPackage(file);
  await bundle("");
  return file;
}
