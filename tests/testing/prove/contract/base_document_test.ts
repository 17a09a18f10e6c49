/** `fw prove --base` in the repository of a project. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { run } from "../../../../src/cli/system/programs.ts";
import { FW, fw } from "../../../cli/fw.ts";
import { MadeProject } from "../../../cli/made_project.ts";
import { TemporaryFolder } from "../../../support/temporary_folder.ts";
import { testOn } from "../../../support/test.ts";

const test = testOn(["deno"], "projects are run by it");

const CONTROLLER = `import { controller, route } from "@fw/fw";
import * as v from "valibot";

const Order = v.object({ id: v.number(), total: v.number() });

export class OrdersController extends controller("orders", { public: true }) {
  one = route.get("/:id", { response: Order }, ({ params }) => ({
    id: Number(params.id),
    total: 1,
  }));
}
`;

/** A machine that has only run the tests knows no author. */
const AUTHOR = ["-c", "user.name=fw", "-c", "user.email=fw@example.com"];

/** A project in a repository, whose branch `main` has a route and its document. */
class Repository implements AsyncDisposable {
  readonly #project: MadeProject;
  /** The folder of temporary files. */
  readonly #temporary = new TemporaryFolder();

  private constructor(project: MadeProject) {
    this.#project = project;
  }

  static async make(): Promise<Repository> {
    const repository = new Repository(await MadeProject.make());
    repository.write("src/orders/orders_controller.ts", CONTROLLER);
    repository.edit("src/app.ts", (text) =>
      text
        .replace(
          /^import/m,
          `import { OrdersController } from "./orders/orders_controller.ts";\nimport`,
        )
        .replace("[GreetingController]", "[GreetingController, OrdersController]"));
    await repository.#project.fw("openapi --out openapi.json");
    await repository.#project.fw("openapi --out openapi.yaml");
    await repository.git("add", "--all");
    await repository.git("commit", "--quiet", "--message", "Orders");
    return repository;
  }

  get root(): string {
    return this.#project.root;
  }

  write(path: string, text: string): void {
    const file = join(this.root, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }

  edit(path: string, change: (text: string) => string): void {
    this.write(path, change(readFileSync(join(this.root, path), "utf8")));
  }

  async git(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(["git", ...AUTHOR, ...args], { cwd: this.root });
    assert.equal(code, 0, stderr);
    return stdout.trim();
  }

  /** The variables of a command: its temporary files are in a folder of the test. */
  get env(): Record<string, string> {
    return { TMPDIR: this.#temporary.path };
  }

  prove(...args: readonly string[]) {
    return fw(["prove", "--only", "contract", ...args], { cwd: this.root, env: this.env });
  }

  /** Checks that no worktree and no temporary file is left. */
  async isAsBefore(): Promise<void> {
    assert.deepEqual((await this.git("worktree", "list")).split("\n").length, 1);
    assert.deepEqual(readdirSync(join(this.root, ".git")).includes("worktrees"), false);
    const left = readdirSync(this.#temporary.path).filter((name) => name.startsWith("fw-"));
    assert.deepEqual(left, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#temporary[Symbol.dispose]();
    await this.#project[Symbol.asyncDispose]();
  }
}

test("fw prove --base compares with a revision, a file of one, and a file", async () => {
  await using shop = await Repository.make();
  const same = await shop.prove("--base", "main");
  assert.deepEqual(
    [same.code, same.stdout, same.stderr],
    [0, "contract  2 operations of main: compatible\n", ""],
  );
  shop.edit("src/orders/orders_controller.ts", (text) =>
    text
      .replace(", total: v.number()", ", paid: v.boolean()")
      .replace("total: 1", "paid: true"));
  const report = (base: string) =>
    `contract  GET /api/orders/{id}: 200 lost "total" (breaking)
            clients send it, or read it
contract  2 operations of ${base}
          GET /api/orders/{id}: 200 gained "paid", which is required
1 failure
`;
  for (const base of ["main", "main:./openapi.yaml", "openapi.json"]) {
    const { code, stdout, stderr } = await shop.prove(
      ...["--base", base, "--json", "report/it.json", "--junit", "report/it.xml"],
    );
    assert.deepEqual([code, stdout, stderr], [1, report(base), "error: Found 1 failure\n"]);
    const { parts } = JSON.parse(readFileSync(join(shop.root, "report/it.json"), "utf8"));
    assert.deepEqual(
      parts.map((each: { name: string; failures: unknown[] }) => [
        each.name,
        each.failures,
      ]),
      [["contract", [{
        subject: "GET /api/orders/{id}",
        message: '200 lost "total" (breaking)',
        details: ["clients send it, or read it"],
      }]]],
    );
    assert.match(
      readFileSync(join(shop.root, "report/it.xml"), "utf8"),
      /<testsuite name="contract" tests="1" failures="1".+?<failure message="200 lost &quot;total&quot; \(breaking\)">/s,
    );
  }
  rmSync(join(shop.root, "report"), { recursive: true });
  assert.equal(await shop.git("status", "--short", "src"), "M src/orders/orders_controller.ts");
  assert.equal(readdirSync(shop.root).includes("prove.json"), false); // it records nothing
  await shop.isAsBefore();
}, { slow: true });

test("fw prove --base says why it cannot compare, and leaves nothing behind", async () => {
  await using shop = await Repository.make();
  shop.edit("src/app.ts", (text) => `${text}\nthrow new Error("it is broken");\n`);
  await shop.git("commit", "--all", "--quiet", "--message", "Broken");
  await shop.git("tag", "broken");
  await shop.git("revert", "--no-edit", "HEAD");
  await shop.git("rm", "--quiet", "-r", "deno.json");
  await shop.git("commit", "--quiet", "--message", "Without a project");
  await shop.git("tag", "empty");
  await shop.git("revert", "--no-edit", "HEAD");
  shop.write("broken.json", "{");
  shop.write("old.json", '{"openapi":"3.0.3"}');
  for (
    const [base, message] of [
      ["nowhere", "Cannot compare with nowhere: it is neither a file nor a revision of a git"],
      ["main:none.json", "Cannot compare with main:none.json: path 'none.json' does not exist"],
      ["-fmain", "Cannot compare with -fmain: it is not a revision"],
      ["--output=x:y", "Cannot compare with --output=x:y: it is not a revision"],
      ["$(touch x)", "Cannot compare with $(touch x): it is neither a file nor a revision"],
      ["broken.json", "Cannot compare with broken.json: "],
      ["old.json", "Cannot read document: it is of OpenAPI 3.0.3; documents of OpenAPI 3.1 are"],
      ["empty", "Cannot compare with empty: it has no project in this folder"],
      ["broken", "Cannot compare with broken: it is broken (src/app.ts:"],
    ] as const
  ) {
    const { code, stdout, stderr } = await shop.prove(`--base=${base}`);
    assert.deepEqual([code, stdout], [1, ""], base);
    assert.ok(stderr.startsWith(`error: ${message}`), stderr);
    assert.equal(stderr.trim().split("\n").length, 1);
  }
  const without = await shop.prove();
  assert.equal(without.stderr, "error: Cannot prove: contract needs a base to compare with\n");
  assert.deepEqual(readdirSync(shop.root).includes("x"), false);
  await shop.isAsBefore();
}, { slow: true });

test("fw prove --base removes its worktree after a signal", async () => {
  await using shop = await Repository.make();
  shop.edit("src/app.ts", (text) => `${text}\nawait new Promise((r) => setTimeout(r, 600_000));\n`);
  await shop.git("commit", "--all", "--quiet", "--message", "Slow");
  const [program, ...args] = FW;
  const child = spawn(program, [...args, "prove", "--only", "contract", "--base", "HEAD"], {
    cwd: shop.root,
    env: { ...process.env, ...shop.env },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  const worktrees = join(shop.root, ".git/worktrees");
  // the folder of the script is made once the files are checked out
  while (!isRunning(shop.env["TMPDIR"]!)) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(readdirSync(worktrees).length, 1);
  process.kill(child.pid ?? 0, "SIGINT");
  assert.deepEqual(await ended, [130, null]);
  await shop.isAsBefore();
}, { slow: true });

function isRunning(folder: string): boolean {
  return readdirSync(folder).filter((name) => name.startsWith("fw-")).length === 2;
}
