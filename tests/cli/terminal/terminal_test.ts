/** Tests on a terminal: `script` of util-linux emulates and records one. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findOnPath } from "../../../src/cli/system/programs.ts";
import { test, testOn } from "../../support/test.ts";
import { FW } from "../fw.ts";
import { MadeProject } from "../made_project.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const denoTest = testOn(["deno"], "projects are served by it");

const skip = findOnPath("script") === undefined ? "no script of util-linux" : undefined;

/** A visible sign for the escape character. */
const ESCAPE = "␛";

const MAX_RUN_MS = 20_000;

interface Shown {
  readonly code: number;
  /** The output, in which escape codes begin with `␛`. */
  readonly text: string;
}

/** Runs `fw`, or another program, on a terminal, and types input. */
async function onTerminal(
  command: string,
  { program = FW, cwd, typed = [], env = {} }: {
    readonly program?: readonly string[];
    readonly cwd: string;
    readonly typed?: readonly (readonly [when: RegExp, keys: string])[];
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<Shown> {
  const { NO_COLOR: _, ...rest } = process.env;
  const line = [...program, ...command.split(" ")].filter(Boolean).join(" ");
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    cwd,
    env: { ...rest, TERM: "xterm", SHELL: "/bin/sh", ...env },
  });
  let text = "";
  const left = [...typed];
  child.stdout.on("data", (chunk) => {
    text += chunk;
    if (left[0]?.[0].test(text)) child.stdin.write(left.shift()?.[1] ?? "");
  });
  const tooLong = setTimeout(() => child.kill("SIGKILL"), MAX_RUN_MS);
  const [code] = await once(child, "close");
  clearTimeout(tooLong);
  child.stdin.destroy();
  return { code, text: text.replaceAll("\r\n", "\n").replaceAll("\x1b", ESCAPE) };
}

test("fw shows colours on a terminal, except with NO_COLOR or TERM=dumb", async () => {
  using folder = new TemporaryFolder();
  const cwd = folder.path;
  const { text } = await onTerminal("--help", { cwd });
  assert.match(text, /␛\[1mCommands:␛\[22m\n {2}␛\[36mnew␛\[39m/);
  const wrong = await onTerminal("nwe", { cwd });
  assert.equal(wrong.text, "␛[31merror:␛[39m unknown command 'nwe' (did you mean new?)\n");
  assert.equal(wrong.code, 2);
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
    assert.doesNotMatch((await onTerminal("--help", { cwd, env })).text, /␛/);
  }
}, { skip });

denoTest("fw db diff asks on a terminal which columns are renamed", async () => {
  await using project = await MadeProject.make({ db: "sqlite" });
  await project.fw("g model cat");
  const path = join(project.root, "src/cats/cat_model.ts");
  const text = readFileSync(path, "utf8");
  writeFileSync(
    path,
    text.replace(/name: .*\n/, "nick: field.text(),\n  full: field.text(),\n"),
  );
  const shown = await onTerminal("db diff rename", {
    cwd: project.root,
    typed: [
      [/nick the new name of cats\.name\? \(yes\/no\)/, "no\n"],
      [/full the new name of cats\.name\? \(yes\/no\)/, "yes\n"],
    ],
  });
  assert.equal(shown.code, 0, shown.text);
  assert.match(shown.text, /rename column cats\.name to full/);
  assert.match(
    readFileSync(join(project.root, "migrations/0002_rename.sql"), "utf8"),
    /^-- This fails .*\n.*\nalter table "cats" rename column "name" to "full";$/m,
  );
}, { skip, slow: true });

test("fw new prompts for the name on a terminal", async () => {
  using folder = new TemporaryFolder();
  const typed = [[/name of the project\?/, "shop\n"]] as const;
  const { code, text } = await onTerminal("new --no-git", { cwd: folder.path, typed });
  assert.equal(code, 0);
  assert.match(text, /␛\[32mCreated␛\[39m ␛\[1mshop␛\[22m\./);
  assert.ok(existsSync(join(folder.path, "shop/deno.json")));
}, { skip });

test("fw new without a name creates nothing", async () => {
  for (const keys of ["\n", "\x04", "\x03"]) { // Enter, the end of input, Ctrl-C
    using folder = new TemporaryFolder();
    const typed = [[/name of the project\?/, keys]] as const;
    const { code } = await onTerminal("new --no-git", { cwd: folder.path, typed });
    assert.notEqual(code, 0, JSON.stringify(keys));
    assert.deepEqual(folder.names(), []);
  }
}, { skip });

test(
  "fw generate checks the name before it asks for fields, and writes nothing at the end of input",
  async () => {
    using folder = new TemporaryFolder();
    await onTerminal("new shop --no-git", { cwd: folder.path });
    const cwd = join(folder.path, "shop");
    const name = /What is the name of the resource\?/;
    const fields = /What are its fields\?/;
    const unnamed = await onTerminal("g resource", {
      cwd,
      typed: [[name, "\n"], [fields, "\x04"]],
    });
    assert.equal(unnamed.code, 1);
    assert.match(unnamed.text, /Cannot use the name: it is empty/);
    assert.doesNotMatch(unnamed.text, fields);
    const ended = await onTerminal("g resource", {
      cwd,
      typed: [[name, "cat\n"], [fields, "\x04"]],
    });
    assert.equal(ended.code, 1);
    assert.match(ended.text, /Cannot read the answer: the input has ended/);
    assert.equal(existsSync(join(cwd, "src/cats")), false);
  },
  { skip },
);

test("fw db rollback prompts on a terminal, except in production", async () => {
  using folder = new TemporaryFolder();
  await onTerminal("new shop --no-git --db sqlite", { cwd: folder.path });
  const cwd = join(folder.path, "shop");
  await onTerminal("g model cat", { cwd, typed: [[/What are its fields\?/, "\n"]] });
  await onTerminal("db migrate", { cwd });
  const question = /Roll back 0001_create_cats of sqlite:data\/data\.sqlite\?/;
  for (const keys of ["no\n", "\n", "\x04"]) {
    const refused = await onTerminal("db rollback", { cwd, typed: [[question, keys]] });
    assert.equal(refused.code, 1, JSON.stringify(keys));
    assert.match(refused.text, /Cannot roll back: the answer was not yes/);
  }
  const env = { FW_ENV: "production" };
  const production = await onTerminal("db rollback", { cwd, env });
  assert.equal(production.code, 1);
  assert.match(production.text, /FW_ENV is production; --yes/);
  const { code, text } = await onTerminal("db rollback", { cwd, typed: [[question, "yes\n"]] });
  assert.equal(code, 0, text);
  assert.match(text, /rolled back␛\[39m 0001_create_cats/);
}, { skip, slow: true });

test("fw shows progress after half a second, and removes it", async () => {
  using folder = new TemporaryFolder();
  const bin = join(folder.path, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), "#!/bin/sh\nsleep 0.3\n", { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]}` };
  const slow = await onTerminal("new slow", { cwd: folder.path, env });
  assert.match(slow.text, /\r␛\[K␛\[36m⠋␛\[39m Creating slow\r␛\[K/);
  assert.match(slow.text, /\r␛\[K␛\[32mCreated␛\[39m/);
  const quick = await onTerminal("new quick --dry-run", { cwd: folder.path });
  assert.doesNotMatch(quick.text, /⠋|␛\[K/);
}, { skip });

denoTest("Ctrl-C ends deno task dev and its watcher", async () => {
  using folder = new TemporaryFolder();
  await onTerminal("new shop --no-git", { cwd: folder.path });
  const { code, text } = await onTerminal("", {
    program: [process.execPath, "task", "dev"],
    cwd: join(folder.path, "shop"),
    env: { PORT: "0" },
    typed: [[/Listening on/, "\x03"]],
  });
  assert.equal(code, 130);
  assert.doesNotMatch(text, /Restarting on file change/);
}, { skip });
