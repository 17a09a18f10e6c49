import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createProgram } from "../../src/cli/main.ts";
import { VERSION } from "../../src/cli/project/framework.ts";
import { KINDS } from "../../src/cli/commands/generate.ts";
import { run } from "../../src/cli/system/programs.ts";
import { ROOT } from "../support/project.ts";
import { test, testOnce } from "../support/test.ts";
import { FW, fw } from "./fw.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

test("fw --version prints the version of the package", async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
  assert.equal(VERSION, version);
  for (const option of ["--version", "-V"]) {
    const { code, stdout, stderr } = await fw(option, { cwd: ROOT });
    assert.deepEqual([code, stdout, stderr], [0, `${version}\n`, ""]);
  }
});

test("fw, fw --help and fw help print the commands and examples", async () => {
  const commands = createProgram().commands.map((command) => command.name());
  const expected = [
    "new",
    "generate",
    "routes",
    "openapi",
    "db",
    "jobs",
    "work",
    "prove",
    "doctor",
    "info",
  ];
  assert.deepEqual(commands, expected);
  for (const command of ["", "--help", "-h", "help"]) {
    const { code, stdout, stderr } = await fw(command, { cwd: ROOT });
    assert.deepEqual([code, stderr], [0, ""], command);
    for (const name of commands) assert.match(stdout, new RegExp(`^  ${name}\\b.* {2}\\w`, "m"));
    assert.match(stdout, /^Examples:\n {2}fw new /m);
  }
});

testOnce("every command has help with a summary and an example that it understands", async () => {
  for (const path of commandPaths()) {
    const { code, stdout, stderr } = await fw(`${path} --help`, { cwd: ROOT });
    assert.deepEqual([code, stderr], [0, ""], path);
    assert.match(stdout, new RegExp(`^Usage: fw ${path.split(" ")[0]}`), path);
    assert.match(stdout, /^Examples?:\n {2}(?:FW_ENV=production )?fw /m, path);
    assert.doesNotMatch(stdout, /undefined|\[object/, path);
    assert.ok(stdout.split("\n").every((line) => line.length <= 80), path);
  }
}, { slow: true });

test("every kind can be generated, with the aliases of NestJS", () => {
  const kinds = Object.fromEntries(KINDS.map(({ name, aliases }) => [name, aliases]));
  assert.deepEqual(kinds, {
    resource: ["res"],
    crud: [],
    field: [],
    module: ["mo"],
    controller: ["co"],
    service: ["s"],
    guard: ["gu"],
    interceptor: ["itc"],
    filter: ["f"],
    pipe: ["pi"],
    dto: [],
    model: [],
    job: [],
    migration: [],
  });
});

/** The first two are checked on each runtime. */
const MISUNDERSTOOD: readonly (readonly [command: string, line: string])[] = [
  ["nwe", "unknown command 'nwe' (did you mean new?)"],
  ["new shop --dbs sqlite", "unknown option '--dbs' (did you mean --db?)"],
  ["genrate", "unknown command 'genrate' (did you mean generate?)"],
  ["xyzzy", "unknown command 'xyzzy'"],
  ["help xyzzy", "unknown command 'xyzzy'"],
  ["generate contoller cats", "unknown kind 'contoller' (did you mean controller?)"],
  ["generate resorce cat", "unknown kind 'resorce' (did you mean resource?)"],
  ["g xyzzy", "unknown kind 'xyzzy'"],
  ["g", "the command is incomplete: see --help"],
  ["db", "the command is incomplete: see --help"],
  ["db statsu", "unknown command 'statsu' (did you mean status?)"],
  [
    "db rollback --steps x",
    "option '--steps <number>' argument 'x' is invalid. It is not a whole number from 1 to 999999.",
  ],
  [
    "g job sweep --retries -1",
    "option '--retries <number>' argument '-1' is invalid. It is not a whole number from 0 to 999999999.",
  ],
  [
    "prove --requests 0",
    "option '--requests <number>' argument '0' is invalid. It is not a whole number from 1 to 2147483647.",
  ],
  [
    "jobs list --limit 010",
    "option '--limit <number>' argument '010' is invalid. It is not a whole number from 1 to 1000.",
  ],
  ["new", "missing required argument 'name'"],
  [
    "new shop --db oracle",
    "option '--db <database>' argument 'oracle' is invalid. Allowed choices are postgres, sqlite, mysql.",
  ],
  ["new a b", "too many arguments for 'new'. Expected 1 argument but got 2: a, b."],
];

for (const [i, [command, line]] of MISUNDERSTOOD.entries()) {
  const register = i < 2 ? test : testOnce;
  register(`fw ${command} is invalid: one line on stderr, and exit code 2`, async () => {
    using folder = new TemporaryFolder();
    const { code, stdout, stderr } = await fw(command, { cwd: folder.path });
    assert.deepEqual([code, stdout, stderr], [2, "", `error: ${line}\n`]);
    assert.deepEqual(folder.names(), []);
  }, { slow: i >= 2 });
}

for (
  const command of [
    "routes",
    "openapi",
    "db status",
    "jobs list",
    "prove",
    "doctor",
    "g service cats",
  ]
) {
  test(`fw ${command} outside of a project fails with exit code 1`, async () => {
    using folder = new TemporaryFolder();
    const { code, stdout, stderr } = await fw(command, { cwd: folder.path });
    const line =
      "Cannot find a project: no deno.json here or above imports @fw/fw; fw new creates one";
    assert.deepEqual([code, stdout, stderr], [1, "", `error: ${line}\n`]);
    assert.deepEqual(folder.names(), []);
  });
}

test("fw info prints versions without a project, as text and as JSON", async () => {
  using folder = new TemporaryFolder();
  const text = await fw("info", { cwd: folder.path });
  assert.match(text.stdout, new RegExp(`^fw +${VERSION}\nsource +${ROOT}\nruntime +\\w`));
  const json = JSON.parse((await fw("info --json", { cwd: folder.path })).stdout);
  assert.deepEqual([json.fw, json.source, json.project], [VERSION, ROOT, "none"]);
});

test("fw ends silently when its output is closed", async () => {
  const quoted = FW.map((word) => `'${word}'`).join(" ");
  for (const command of ["--help", "info", "g --help"]) {
    const line = `${quoted} ${command} 2>stderr | true; cat stderr`;
    using folder = new TemporaryFolder();
    const { stdout, stderr } = await run(["sh", "-c", line], { cwd: folder.path });
    assert.deepEqual([stdout, stderr], ["", ""], command);
  }
});

test("fw names the reason if its output cannot be written", async () => {
  const quoted = FW.map((word) => `'${word}'`).join(" ");
  for (const command of ["--help", "info"]) {
    using folder = new TemporaryFolder();
    const line = `${quoted} ${command} > /dev/full`;
    const { code, stdout, stderr } = await run(["sh", "-c", line], {
      cwd: folder.path,
      env: { ...process.env, NO_COLOR: "1" },
    });
    assert.deepEqual([code, stdout], [1, ""], command);
    assert.match(stderr, /^error: .*no space left on device.*\n$/i);
  }
}, { skip: existsSync("/dev/full") ? undefined : "there is no /dev/full" });

/** Lists commands and subcommands. */
function commandPaths(): readonly string[] {
  return createProgram().commands.flatMap((command) => [
    command.name(),
    ...command.commands.map((each) => `${command.name()} ${each.name()}`),
  ]);
}
