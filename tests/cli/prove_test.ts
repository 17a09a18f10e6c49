/** `fw prove` runs in a project, on Deno. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testOn } from "../support/test.ts";
import { fw } from "./fw.ts";
import { MadeProject } from "./made_project.ts";

const test = testOn(["deno"], "projects are run by it");

test("fw prove finds no fault in a new project with a resource, and writes prove.json", async () => {
  await using project = await MadeProject.make({ db: "sqlite", authn: true });
  await project.fw("generate resource cat name:text:unique at:timestamp lives:integer=9");
  const read = () => JSON.parse(readFileSync(join(project.root, "prove.json"), "utf8"));
  const first = await project.fw("prove --requests 400 --seed 9");
  assert.match(
    first,
    /^document {2}400 requests: every answer as documented, no 5xx; .*\nroles {5}8 routes x 5 callers: as declared\ntenants {3}.*\ncreate prove\.json: keep it in the repository\n$/,
  );
  const recorded = read();
  assert.deepEqual([recorded.seed, recorded.requests], [9, 400]);
  const anonymous = recorded.roles.filter((line: string) => line.includes("  anonymous  "));
  assert.deepEqual(anonymous, [
    "GET /api  anonymous  allowed",
    "GET /api/me  anonymous  401",
    "POST /api/session  anonymous  401",
    "GET /api/v1/cats  anonymous  401",
    "POST /api/v1/cats  anonymous  401",
    "DELETE /api/v1/cats/:id  anonymous  401",
    "GET /api/v1/cats/:id  anonymous  401",
    "PATCH /api/v1/cats/:id  anonymous  401",
  ]);

  const again = await project.fw("prove --junit out/prove.xml --json prove-report.json");
  assert.equal(`${again}create prove.json: keep it in the repository\n`, first);
  assert.deepEqual(read(), recorded);
  const junit = readFileSync(join(project.root, "out/prove.xml"), "utf8");
  assert.match(junit, /<testsuite name="document" tests="1" failures="0" time="[\d.]+">/);
  const json = JSON.parse(readFileSync(join(project.root, "prove-report.json"), "utf8"));
  assert.deepEqual([json.seed, json.isPassed, json.parts.length], [9, true, 3]);
});

test(
  "fw prove reports a change of protection with exit code 1, until --update accepts it",
  async () => {
    await using project = await MadeProject.make({ authn: true });
    await project.fw("prove --requests 20 --seed 1");
    const file = join(project.root, "src/me/me_controller.ts");
    const source = readFileSync(file, "utf8");
    writeFileSync(
      file,
      source.replace('controller("me")', 'controller("me", { roles: ["admin"] })'),
    );
    const prove = async (options: string) => {
      const { code, stdout, stderr } = await fw(`prove --only roles ${options}`, {
        cwd: project.root,
      });
      return { code, lines: (stdout + stderr).trimEnd().split("\n") };
    };
    assert.deepEqual(await prove(""), {
      code: 1,
      lines: [
        ...["ann", "bob"].map((name) =>
          `roles  GET /api/me: ${name}: 403, and prove.json has allowed; --update accepts it`
        ),
        "roles  3 routes x 5 callers",
        "2 failures; fw prove --seed 1 repeats the requests",
        "error: Found 2 failures",
      ],
    });
    assert.deepEqual(await prove("--update"), {
      code: 0,
      lines: [
        "roles  3 routes x 5 callers: as declared",
        "update prove.json: keep it in the repository",
      ],
    });
    assert.equal((await prove("")).code, 0);
  },
  { slow: true },
);
