import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { parseEnv } from "node:util";
import { JwtKey } from "../../src/authn/mod.ts";
import { RELEASE } from "../../src/cli/project/framework.ts";
import { findOnPath, run } from "../../src/cli/system/programs.ts";
import { ROOT } from "../support/project.ts";
import { test } from "../support/test.ts";
import { FW, fw } from "./fw.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

const PLAIN = [
  ".dockerignore",
  ".env",
  ".env.example",
  ".github/workflows/test.yml",
  ".gitignore",
  "Dockerfile",
  "README.md",
  "deno.json",
  "prove.ts",
  "src/app.ts",
  "src/app_test.ts",
  "src/greeting/greeting_controller.ts",
  "src/greeting/greeting_service.ts",
  "src/greeting/greeting_service_test.ts",
  "src/main.ts",
];

test("fw new creates the files of a project, in one commit", async () => {
  using folder = new TemporaryFolder();
  const { code, stdout, stderr } = await fw("new shop", { cwd: folder.path });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(
    stdout,
    /^Created shop, with its first commit\.\n\n {2}cd shop\n {2}deno task dev\n/,
  );
  assert.deepEqual(folder.names(), ["shop"]);
  const files = folder.files("shop");
  assert.deepEqual(Object.keys(files), PLAIN);
  assert.equal(files[".env"], "PORT=3000\nTRUSTED_PROXY_HOPS=0\n");
  assert.match(files[".env.example"] ?? "", /# .+\nPORT=3000\n/);
  const config = JSON.parse(files["deno.json"] ?? "");
  const { imports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
  const { hono, valibot } = imports; // the versions of the framework, so that there is one of each
  assert.deepEqual(config.imports, { "@fw/fw": RELEASE, hono, valibot });
  assert.deepEqual(Object.keys(config.tasks), ["dev", "start", "test", "ok", "fw"]);
  assert.match(config.tasks.dev.command, /^FW_ENV=development deno run .* --watch src\/main\.ts$/);
  assert.doesNotMatch(config.tasks.start.command, /FW_ENV/);
  assert.equal("compilerOptions" in config, false);
  const log = await git(join(folder.path, "shop"), "log", "--format=%s");
  assert.equal(log, "First commit\n");
  assert.equal(await git(join(folder.path, "shop"), "status", "--short"), "");
  assert.doesNotMatch(await git(join(folder.path, "shop"), "ls-files"), /^\.env$/m);
  assert.equal(await git(join(folder.path, "shop"), "check-ignore", "key.pem"), "key.pem\n");
  assert.match(files[".dockerignore"] ?? "", /^\*\*\/\*\.pem$/m);
});

test("fw new adds the files of its options", async () => {
  using folder = new TemporaryFolder();
  const made = await fw("new shop --db postgres --oauth2 --authn --strict --no-git", {
    cwd: folder.path,
  });
  assert.deepEqual([made.code, made.stderr], [0, ""]);
  assert.match(made.stdout, /^Created shop\.\n/);
  const files = folder.files("shop");
  assert.deepEqual(Object.keys(files).filter((file) => !PLAIN.includes(file)), [
    "compose.yaml",
    "dev/identity_provider.ts",
    "migrations/.gitkeep",
    "migrations/migrations_test.ts",
    "src/database.ts",
    "src/jwt.ts",
    "src/me/me_controller.ts",
    "src/oauth2.ts",
    "src/session/credentials_service.ts",
    "src/session/session_controller.ts",
    "src/test_database.ts",
  ]);
  assert.deepEqual((files[".env"] ?? "").match(/^\w+/gm), [
    "PORT",
    "TRUSTED_PROXY_HOPS",
    "DATABASE_URL",
    "OAUTH2_ISSUER",
    "OAUTH2_JWKS_URL",
    "OAUTH2_AUDIENCE",
    "JWT_KEY",
    "ADMIN_PASSWORD",
  ]);
  const { compilerOptions, lint, tasks } = JSON.parse(files["deno.json"] ?? "");
  assert.equal(compilerOptions.exactOptionalPropertyTypes, true);
  assert.ok(lint.rules.include.includes("eqeqeq"));
  assert.ok("idp" in tasks);
  assert.equal(existsSync(join(folder.path, "shop/.git")), false);
});

test("fw new --authn writes a new signing key into .env for its owner alone, and never into git", async () => {
  using folder = new TemporaryFolder();
  const keys: string[] = [];
  for (const name of ["shop", "shop2"]) {
    const { code, stderr } = await fw(`new ${name} --authn`, { cwd: folder.path });
    assert.deepEqual([code, stderr], [0, ""]);
    const files = folder.files(name);
    const { JWT_KEY = "", ADMIN_PASSWORD = "" } = parseEnv(files[".env"] ?? "");
    assert.equal((await JwtKey.fromPem(JWT_KEY)).algorithm, "EdDSA");
    assert.match(ADMIN_PASSWORD, /^[\w-]{20}$/);
    const example = files[".env.example"] ?? "";
    const values = { PORT: "3000", TRUSTED_PROXY_HOPS: "0", JWT_KEY: "", ADMIN_PASSWORD: "" };
    assert.deepEqual({ ...parseEnv(example) }, values);
    const root = join(folder.path, name);
    if (process.platform !== "win32") {
      assert.equal(statSync(join(root, ".env")).mode & 0o777, 0o600);
    }
    assert.doesNotMatch(await git(root, "ls-files"), /^\.env$/m);
    const committed = await git(root, "show", "HEAD");
    for (const secret of [JWT_KEY, ADMIN_PASSWORD]) assert.ok(!committed.includes(secret));
    keys.push(JWT_KEY, ADMIN_PASSWORD);
    // the command that .env.example and the README show
    const [command = ""] = /openssl .+/.exec(example) ?? [];
    assert.ok(files["README.md"]?.includes(command));
    const { stdout } = await run(["sh", "-c", command], { cwd: root });
    assert.equal((await JwtKey.fromPem(stdout)).algorithm, "EdDSA");
  }
  assert.equal(new Set(keys).size, 4);
});

test("fw new creates an image that serves on all interfaces, as another user than root, with a health check", async () => {
  using folder = new TemporaryFolder();
  await fw("new Shop", { cwd: folder.path });
  const instructions = (folder.files("Shop")["Dockerfile"] ?? "").replaceAll("\\\n", "")
    .split("\n").filter((line) => /^[A-Z]/.test(line));
  const stages = instructions.filter((line) => line.startsWith("FROM"));
  assert.equal(stages.length, 2);
  const last = instructions.slice(instructions.lastIndexOf(stages[1] ?? ""));
  assert.ok(
    last.findIndex((line) => line === "USER deno") <
      last.findIndex((line) => line.startsWith("CMD")),
  );
  assert.ok(last.some((line) => /^ENV .*\bHOST=0\.0\.0\.0\b/.test(line)));
  assert.ok(last.some((line) => /^HEALTHCHECK .*\/health/.test(line)));
  const permissions =
    "--allow-net --allow-env --allow-read --allow-write=data --allow-sys=hostname";
  const command = ["deno", "run", "--cached-only", "--no-prompt", ...permissions.split(" ")];
  assert.deepEqual(JSON.parse(last.at(-1)?.replace("CMD ", "") ?? ""), [...command, "src/main.ts"]);
  const { tasks } = JSON.parse(folder.files("Shop")["deno.json"] ?? "");
  assert.equal(tasks.start.command, `deno run ${permissions} --env-file src/main.ts`);
});

test("fw new --dry-run lists the files, and writes none", async () => {
  using folder = new TemporaryFolder();
  const { code, stdout } = await fw("new shop --dry-run", { cwd: folder.path });
  assert.equal(code, 0);
  const listed = stdout.trim().split("\n").map((line) => line.replace("create shop/", ""));
  assert.deepEqual(listed.toSorted(), PLAIN);
  assert.deepEqual(folder.names(), []);
});

for (const taken of ["a folder with a file", "an empty folder", "a file", "a broken link"]) {
  test(`fw new does not replace ${taken}`, async () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, "shop");
    if (taken.includes("folder")) mkdirSync(path);
    if (taken === "a folder with a file") writeFileSync(join(path, "mine"), "mine");
    if (taken === "a file") writeFileSync(path, "mine");
    if (taken === "a broken link") symlinkSync("nowhere", path);
    const before = folder.files();
    for (const command of ["new shop", "new shop --dry-run"]) {
      const { code, stdout, stderr } = await fw(command, { cwd: folder.path });
      assert.deepEqual([code, stdout, stderr], [1, "", "error: Cannot create shop: it exists\n"]);
    }
    assert.deepEqual([folder.names(), folder.files()], [["shop"], before]);
  });
}

for (
  const name of [
    "",
    "class",
    "1shop",
    "../shop",
    "/tmp/shop",
    "..",
    ".",
    "my shop",
    "-",
    "café",
    "node_modules",
  ]
) {
  test(`fw new refuses the name ${JSON.stringify(name)}`, async () => {
    using folder = new TemporaryFolder();
    const { code, stdout, stderr } = await fw(["new", "--", name], { cwd: folder.path });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^error: Cannot use the name.*: it .*\n$/);
    assert.deepEqual(folder.names(), []);
  });
}

test("fw new works without git, and says so", async () => {
  using folder = new TemporaryFolder();
  const env = { PATH: dirname(process.execPath) };
  assert.equal(findOnPath("git") === join(env.PATH, "git"), false);
  const { code, stdout, stderr } = await fw("new shop", { cwd: folder.path, env });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^Created shop, without git, which is not on the PATH\.\n/);
  assert.deepEqual(Object.keys(folder.files("shop")), PLAIN);
});

test("fw new commits where git has no author, and only in its own repository", async () => {
  using folder = new TemporaryFolder();
  const env = { HOME: folder.path, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  await fw("new shop", { cwd: folder.path, env: { ...env, GIT_DIR: "/nowhere" } });
  assert.equal(await git(join(folder.path, "shop"), "log", "--format=%an %s"), "fw First commit\n");
  const inside = await fw("new inner", { cwd: join(folder.path, "shop"), env });
  assert.match(inside.stdout, /^Created inner, in the git repository of its parent folder\.\n/);
  assert.equal(existsSync(join(folder.path, "shop/inner/.git")), false);
});

test("fw new fails where it cannot create a folder", async () => {
  const { code, stderr } = await fw("new shop", { cwd: "/proc" });
  assert.equal(code, 1);
  assert.equal(stderr, "error: Cannot create shop: the folder cannot be written to (ENOENT)\n");
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`fw new that ${signal} ends leaves no files`, async () => {
    using folder = new TemporaryFolder();
    // a slow git, which creates a file so that the signal is sent while it runs
    const bin = join(folder.path, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "git"), "#!/bin/sh\ntouch git-runs\nsleep 2\n", {
      mode: 0o755,
    });
    const [program, ...args] = FW;
    const child = spawn(program, [...args, "new", "shop"], {
      cwd: folder.path,
      env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` },
    });
    const closed = once(child, "exit");
    const isInTheMiddle = () =>
      readdirSync(folder.path).some((name) => name.startsWith(".shop-")) &&
      existsSync(join(folder.path, "git-runs"));
    for (let i = 0; i < 500 && !isInTheMiddle(); i++) await delay(10);
    assert.ok(isInTheMiddle());
    process.kill(child.pid ?? 0, signal);
    const [code] = await closed;
    assert.equal(code, signal === "SIGINT" ? 130 : 143);
    assert.deepEqual(folder.names(), ["bin", "git-runs"]);
    child.stdout.destroy();
    child.stderr.destroy();
  });
}

async function git(cwd: string, ...args: string[]): Promise<string> {
  return (await run(["git", ...args], { cwd })).stdout;
}
