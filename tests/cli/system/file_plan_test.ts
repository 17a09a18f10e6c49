import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { FilePlan } from "../../../src/cli/system/file_plan.ts";
import { test } from "../../support/test.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

test("FilePlan.apply() writes nothing if a file was changed since it was read", () => {
  using folder = new TemporaryFolder();
  const file = join(folder.path, "app.ts");
  writeFileSync(file, "one");
  const plan = new FilePlan(folder.path);
  plan.create("new/cat.ts", "cat");
  plan.update("app.ts", `${plan.read("app.ts")} two`);
  writeFileSync(file, "three");
  assert.throws(() => plan.apply(), {
    name: "CliError",
    message: "Cannot write app.ts: it was changed in the meantime; run the command again",
  });
  assert.deepEqual([folder.names(), readFileSync(file, "utf8")], [["app.ts"], "three"]);
});

test("FilePlan.apply() writes nothing if a file was changed before its edit was planned", () => {
  using folder = new TemporaryFolder();
  const file = join(folder.path, "app.ts");
  writeFileSync(file, "one");
  const plan = new FilePlan(folder.path);
  const text = `${plan.read("app.ts")} two`;
  writeFileSync(file, "three"); // while the edit is formatted
  plan.update("app.ts", text);
  assert.throws(() => plan.apply(), {
    message: "Cannot write app.ts: it was changed in the meantime; run the command again",
  });
  assert.equal(readFileSync(file, "utf8"), "three");
});

test("FilePlan.apply() replaces a file at once: who reads it meanwhile sees one whole text", () => {
  using folder = new TemporaryFolder();
  const file = join(folder.path, "app.ts");
  writeFileSync(file, "one");
  chmodSync(file, 0o640);
  const reader = openSync(file, "r");
  try {
    const plan = new FilePlan(folder.path);
    plan.update("app.ts", "two, which is longer");
    plan.apply();
    assert.equal(readFileSync(reader, "utf8"), "one");
  } finally {
    closeSync(reader);
  }
  assert.deepEqual(folder.files(), { "app.ts": "two, which is longer" });
  assert.equal(statSync(file).mode & 0o777, 0o640);
});

test("FilePlan.apply() overwrites no file that was created since check()", () => {
  using folder = new TemporaryFolder();
  const plan = new FilePlan(folder.path);
  plan.create("cat.ts", "mine");
  const changes = plan.changes();
  writeFileSync(join(folder.path, "cat.ts"), "theirs");
  assert.throws(() => plan.apply(changes), {
    name: "CliError",
    message: "Cannot write cat.ts: it was created in the meantime; run the command again",
  });
  assert.deepEqual(folder.files(), { "cat.ts": "theirs" });
});

test("FilePlan.apply() waits while another process edits, unless that was killed", () => {
  using folder = new TemporaryFolder();
  const [file, lock] = ["app.ts", ".fw.lock"].map((name) => join(folder.path, name)) as [
    string,
    string,
  ];
  writeFileSync(file, "one");
  writeFileSync(lock, "");
  const [now, ageMs] = [Date.now(), 9_500];
  utimesSync(lock, new Date(now - ageMs), new Date(now - ageMs));
  const plan = new FilePlan(folder.path);
  plan.update("app.ts", "two");
  plan.apply();
  assert.ok(Date.now() - now >= 400, "it waits until the lock is 10 s old");
  assert.deepEqual(folder.files(), { "app.ts": "two" });
});

test("FilePlan.apply() fails at once if its lock is a link or a folder", () => {
  for (
    const create of [
      (lock: string) => mkdirSync(lock),
      (lock: string) => symlinkSync("nowhere", lock),
      (lock: string) => symlinkSync("app.ts", lock),
    ]
  ) {
    using folder = new TemporaryFolder();
    writeFileSync(join(folder.path, "app.ts"), "one");
    create(join(folder.path, ".fw.lock"));
    const plan = new FilePlan(folder.path);
    plan.update("app.ts", "two");
    const startMs = Date.now();
    assert.throws(() => plan.apply(), {
      name: "CliError",
      message: "Cannot write .fw.lock: it exists, and is not a file; remove it",
    });
    assert.ok(Date.now() - startMs < 5000);
    assert.deepEqual(folder.names(), [".fw.lock", "app.ts"]);
    assert.equal(readFileSync(join(folder.path, "app.ts"), "utf8"), "one");
  }
});

test(
  "FilePlan.apply() writes .env for its owner alone, also an existing one, unless it fails",
  () => {
    using folder = new TemporaryFolder();
    const modeOf = (name: string) => statSync(join(folder.path, name)).mode & 0o777;
    writeFileSync(join(folder.path, "app.ts"), "one", { mode: 0o644 });
    const plan = new FilePlan(folder.path);
    plan.create(".env", "JWT_KEY=secret");
    plan.create(".env.example", "JWT_KEY=");
    plan.apply();
    assert.deepEqual([modeOf(".env"), modeOf(".env.example")], [0o600, modeOf("app.ts")]);
    chmodSync(join(folder.path, ".env"), 0o640);
    const next = new FilePlan(folder.path);
    next.update(".env", "JWT_KEY=secret2");
    next.apply();
    assert.equal(modeOf(".env"), 0o600);
    chmodSync(join(folder.path, ".env"), 0o644);
    const failing = new FilePlan(folder.path);
    failing.update(".env", "JWT_KEY=secret3");
    failing.create("app.ts/cat.ts", "the parent is a file");
    assert.throws(() => failing.apply(), /^CliError: Cannot write app.ts\/cat.ts: /);
    assert.equal(modeOf(".env"), 0o644);
    assert.equal(readFileSync(join(folder.path, ".env"), "utf8"), "JWT_KEY=secret2");
  },
  { skip: process.platform === "win32" ? "it has no modes" : undefined },
);

test("FilePlan.changes() distinguishes new, edited and overwritten files", () => {
  using folder = new TemporaryFolder();
  for (const name of ["edited", "overwritten"]) writeFileSync(join(folder.path, name), name);
  const plan = new FilePlan(folder.path);
  plan.update("edited", "1");
  plan.create("overwritten", "2");
  plan.update("new", "3");
  plan.createMissing({ edited: "4", missing: "5" });
  assert.deepEqual(plan.changes(), [
    { path: "edited", verb: "update", text: "1" },
    { path: "overwritten", verb: "overwrite", text: "2" },
    { path: "new", verb: "create", text: "3" },
    { path: "missing", verb: "create", text: "5" },
  ]);
  assert.throws(() => plan.check(), /^CliError: Cannot write overwritten: it exists; --force /);
  plan.check({ force: true });
});
