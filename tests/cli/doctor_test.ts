/** Checks of `fw doctor` that need no process. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { checkDatabase, checkModels } from "../../src/cli/doctor/application.ts";
import { checkPermissions, checkSecrets } from "../../src/cli/doctor/environment.ts";
import { run } from "../../src/cli/system/programs.ts";
import type { Project } from "../../src/cli/project/project.ts";
import { test } from "../support/test.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { withEnv } from "../support/with_env.ts";

test("checkPermissions() names the flags of the task start, long and short, and warns without", () => {
  using folder = new TemporaryFolder();
  const none = "the task start grants none, and prompts for each";
  const all = "the task start grants all: list those that are needed";
  for (
    const [flags, level, text] of [
      ["--allow-read=data --allow-net --deny-env", "ok", "--allow-read, --allow-net"],
      ["-qNER -S=hostname --env-file", "ok", "-NER, -S"],
      ["-P=server", "ok", "-P=server"],
      ["--permission-set=server", "ok", "--permission-set=server"],
      ["-qA", "warning", all],
      ["-q -r --deny-net --ignore-env -L debug -c deno.json", "warning", none],
    ] as const
  ) {
    const start = `deno run ${flags} src/main.ts -E --allow-run`; // which has arguments
    writeFileSync(join(folder.path, "deno.json"), JSON.stringify({ tasks: { start } }));
    assert.deepEqual(checkPermissions(projectIn(folder)), {
      level,
      subject: "permissions",
      text: level === "ok" ? `the task start grants ${text}` : text,
    }, flags);
  }
});

test("checkSecrets() warns about a .env that other users can read", async () => {
  using folder = new TemporaryFolder();
  const levelWith = async (mode: number) => {
    writeFileSync(join(folder.path, ".env"), "", { mode: 0o600 });
    chmodSync(join(folder.path, ".env"), mode);
    return await checkSecrets(projectIn(folder));
  };
  const warning = {
    level: "warning",
    subject: "secrets",
    text: ".env can be read by other users: chmod 600 .env",
  };
  assert.deepEqual(await levelWith(0o640), warning);
  assert.deepEqual(await levelWith(0o604), warning);
  assert.notDeepEqual(await levelWith(0o600), warning);
}, { skip: process.platform === "win32" ? "it has no modes" : undefined });

test("checkSecrets() warns about private keys in the repository", async () => {
  using folder = new TemporaryFolder();
  const git = (...args: string[]) => run(["git", ...args], { cwd: folder.path });
  const begin = "-----BEGIN EC PRIVATE KEY-----";
  const files = {
    ".gitignore": ".env\n",
    "key.pem": `${begin}\r\nMC4CAQ==\r\n`,
    "one_line.txt": `KEY="${begin}\\nMC4CAQ=="`,
    "code.ts": `const begin = "${begin}";\nconst shape = "${begin}\\n...";\n`,
    "public.pem": "-----BEGIN PUBLIC KEY-----\nMC4CAQ==\n",
    "untracked.pem": `${begin}\nMC4CAQ==\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  await git("init", "-q");
  await git("add", "--", ...Object.keys(files).filter((name) => !name.startsWith("untracked")));
  assert.deepEqual(await checkSecrets(projectIn(folder)), {
    level: "warning",
    subject: "secrets",
    text: "a private key is in the repository: key.pem one_line.txt",
  });
  await withEnv("GIT_DIR", join(folder.path, "other"), async () => { // as a hook of another one
    assert.equal((await checkSecrets(projectIn(folder))).level, "warning");
  });
  await git("rm", "-q", "--cached", "key.pem", "one_line.txt");
  const { level } = await checkSecrets(projectIn(folder));
  assert.equal(level, "ok");
});

test("checkModels() creates no database on a server in production", async () => {
  using folder = new TemporaryFolder();
  writeFileSync(join(folder.path, "database.ts"), "throw new Error('not to be run')");
  const check = (url: string) =>
    checkModels(projectIn(folder), {
      database: "database.ts",
      variables: { DATABASE_URL: url },
      isProduction: true,
    });
  const skipped = [{
    level: "skipped",
    subject: "models",
    text: "compared in development and CI: fw db diff --check",
  }];
  assert.deepEqual(await check("postgres://db.example/shop"), skipped);
  // Nor on one whose migrations the project keeps besides those of SQLite.
  mkdirSync(join(folder.path, "migrations/postgres"), { recursive: true });
  assert.deepEqual(await check("sqlite:data.sqlite"), skipped);
});

test("checkDatabase() leaves a missing file of SQLite to the next start, but no URL that it refuses", async () => {
  using folder = new TemporaryFolder();
  const check = (DATABASE_URL: string) =>
    checkDatabase(projectIn(folder), { database: "database.ts", variables: { DATABASE_URL } });
  const missing = { level: "skipped", subject: "database" };
  const text = "data.sqlite is missing: the next start creates it";
  assert.deepEqual(await check("sqlite:data.sqlite"), [{ ...missing, text }]);
  // it goes on to open the database, whose file is missing here
  const [finding] = await check("sqlite:data.sqlite?key=secret");
  assert.deepEqual(finding, { ...missing, text: "database.ts is missing" });
});

function projectIn({ path }: TemporaryFolder): Project {
  return {
    root: path,
    configFile: "deno.json",
    framework: "",
    variables: () => Promise.resolve({}),
  };
}
