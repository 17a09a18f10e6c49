import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { importsOf, loadedBy, ROOT, sourceFiles } from "./support/project.ts";
import { test } from "./support/test.ts";

/** The layers that each layer may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  core: ["platform"],
  middleware: ["platform", "core"],
  runtime: ["platform", "core"],
  oauth2: ["platform", "core"],
  authn: ["platform", "core", "oauth2"],
  db: ["platform", "core"],
  jobs: ["platform", "core", "db"],
  openapi: ["platform", "core"],
  application: ["platform", "core", "middleware", "runtime", "oauth2", "authn", "openapi"],
  client: ["core"],
  testing: [
    "platform",
    "core",
    "oauth2",
    "authn",
    "db",
    "openapi",
    "jobs",
    "application",
    "client",
  ],
  cli: [],
};

/**
 * The rooms of the folders that have several, from the ground up: folders, and files at the top of the
 * folder. A room imports only the rooms before it; the other files at the top come last.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: ["http", "schema", "route", "module"],
  middleware: ["client_ip.ts", "response_headers.ts", "rate_limit"],
  oauth2: ["ground", "resource_server", "client", "login", "social"],
  db: [
    "errors.ts",
    "model",
    "transaction",
    "connection",
    "query",
    "write",
    "migrate",
    "dialects",
    "schemas",
  ],
  jobs: [
    ...["number_options.ts", "enqueue_options.ts", "backoff.ts", "run.ts", "job_kind.ts"],
    ...[
      "provider_fields.ts",
      "run_options.ts",
      "payload.ts",
      "database.ts",
      "database_clock.ts",
      "engine.ts",
      "run_ending.ts",
    ],
    "schedules",
    ...["event_kind.ts", "ambient.ts"],
    "events",
    ...["job.ts", "handlers.ts", "lease_id.ts"],
    "outbox",
    "relay",
    "telemetry",
    "worker",
    "idempotency",
    ...["jobs_options.ts", "jobs.ts"],
    "webhooks",
  ],
  "db/dialects": ["server", "mysql", "postgres", "sqlite"],
  testing: ["test_jobs.ts", "identity_provider", "test_application.ts", "factory.ts", "prove"],
  "testing/prove": [
    ...["options.ts", "part.ts", "recorded.ts", "shrink.ts", "started_document.ts"],
    ...["percent_encoding.ts", "document_keys.ts", "boolean_schema.ts"],
    ...["request", "document", "roles", "tenants", "contract"],
  ],
  cli: ["terminal", "system", "edit", "project", "new_project", "generate", "doctor", "commands"],
  "cli/generate": [
    "target.ts",
    "edit_project.ts",
    "fields",
    "project_database.ts",
    "kind.ts",
    "kinds",
  ],
  openapi: ["json_schema", "openapi_document.ts", "docs", "options.ts", "operation"],
};

const files = sourceFiles("src");

function layerOf(file: string): string {
  return file.split("/")[1] ?? "";
}

/** Returns the index of a file's room, that of the ground being 0. */
function floorOf(file: string, folder: string, rooms: readonly string[]): number {
  const [room = ""] = relative(`src/${folder}`, file).split("/");
  const floor = rooms.indexOf(room);
  return floor === -1 ? rooms.length : floor;
}

test("a layer imports only the layers below it", () => {
  for (const file of files) {
    const layer = layerOf(file);
    const allowed = [layer, ...MAY_IMPORT[layer] ?? []];
    for (const { target } of importsOf(file)) {
      if (!target.endsWith(".ts")) continue;
      assert.ok(allowed.includes(layerOf(target)), `${file} may not import ${target}`);
      assert.ok(!target.endsWith("mod.ts"), `${file} imports ${target}: import the file itself`);
    }
  }
});

test("a room of a folder imports only the rooms below it", () => {
  for (const [folder, rooms] of Object.entries(ROOMS)) {
    for (const room of rooms) assert.ok(existsSync(join(ROOT, "src", folder, room)), room);
    const inside = files.filter((file) => file.startsWith(`src/${folder}/`));
    for (const file of inside) {
      for (const { target } of importsOf(file)) {
        if (!inside.includes(target)) continue;
        const [from, to] = [file, target].map((it) => floorOf(it, folder, rooms));
        assert.ok(to! <= from!, `${file} may not import ${target}`);
      }
    }
  }
});

test("no file imports itself in a circle, types included", () => {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): void {
    assert.ok(!path.includes(file), `a cycle: ${[...path, file].join(" -> ")}`);
    if (done.has(file)) return;
    for (const { target } of importsOf(file)) {
      if (target.endsWith(".ts")) visit(target, [...path, file]);
    }
    done.add(file);
  }
  for (const file of [...files, "mod.ts"]) visit(file, []);
  assert.ok(done.size > 40);
});

test("every package a file imports is mapped, and none by its registry", () => {
  const { imports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
  for (const file of [...files, "mod.ts"]) {
    for (const { target } of importsOf(file)) {
      if (target.endsWith(".ts") || target.startsWith("node:")) continue;
      const known = Object.keys(imports).some((name) =>
        target === name || target.startsWith(`${name}/`)
      );
      assert.ok(known, `${file} imports ${target}, which deno.json does not map`);
    }
  }
});

test("importing the core loads no database, driver, metrics or command line", () => {
  const loaded = [...loadedBy("mod.ts")];
  const heavy =
    /^(kysely|postgres|mysql2|node:sqlite|prom-client|rate-limiter-flexible|ws|ioredis|bullmq|jose|oauth4webapi)\b/;
  assert.deepEqual(loaded.filter((name) => heavy.test(name)), []);
  assert.deepEqual(loaded.filter((name) => /^src\/(db|cli|testing)\//.test(name)), []);
});

test("importing the jobs loads no optional package", () => {
  for (const entry of ["src/jobs/mod.ts", "src/jobs/relay/bullmq.ts"]) {
    const optional = [...loadedBy(entry)].filter((name) =>
      /^(bullmq|croner|ioredis|ipaddr\.js|standardwebhooks|postgres|mysql2)\b/.test(name)
    );
    assert.deepEqual(optional, [], entry);
  }
});

test("importing the data layer loads no driver", () => {
  const drivers = [...loadedBy("src/db/mod.ts")].filter((name) =>
    /^(postgres|mysql2|kysely-postgres-js|node:(?!async_hooks))/.test(name)
  );
  assert.deepEqual(drivers, []);
});

test("src has no type holes", () => {
  const holes = /(:\s*any\b|\bas any\b|<any\b|\bany\[\]|@ts-ignore|@ts-nocheck|@ts-expect-error)/;
  for (const file of [...files, "mod.ts"]) {
    readFileSync(join(ROOT, file), "utf8").split("\n").forEach((line, i) => {
      const isComment = /^\s*(?:\/?\*|\/\/ (?!@ts))/.test(line);
      assert.ok(isComment || !holes.test(line), `${file}:${i + 1}: ${line.trim()}`);
    });
  }
});

test("no file re-exports everything of another", () => {
  for (const file of [...files, "mod.ts"]) {
    assert.ok(!/^export \*/m.test(readFileSync(join(ROOT, file), "utf8")), `${file} has export *`);
  }
});
