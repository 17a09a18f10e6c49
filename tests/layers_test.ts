import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { importsOf, loadedBy, ROOT, sourceFiles } from "./project.ts";
import { test } from "./test.ts";

/** The layers each layer may import; `application` is the files of `src` itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  middleware: ["core"],
  runtime: ["core"],
  oauth2: ["core"],
  authn: ["core", "oauth2"],
  db: ["core"],
  openapi: ["core"],
  application: ["core", "middleware", "runtime", "oauth2", "authn", "openapi"],
  testing: ["core", "application"],
  cli: [],
};

const files = sourceFiles("src");

function layerOf(file: string): string {
  const [, layer = "", ...rest] = file.split("/");
  return rest.length === 0 ? "application" : layer;
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
    /^(kysely|postgres|mysql2|node:sqlite|prom-client|rate-limiter-flexible|ws|ioredis|jose|oauth4webapi)\b/;
  assert.deepEqual(loaded.filter((name) => heavy.test(name)), []);
  assert.deepEqual(loaded.filter((name) => /^src\/(db|cli|testing)\//.test(name)), []);
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
      assert.ok(!holes.test(line), `${file}:${i + 1}: ${line.trim()}`);
    });
  }
});

test("no file re-exports everything of another", () => {
  for (const file of [...files, "mod.ts"]) {
    assert.ok(!/^export \*/m.test(readFileSync(join(ROOT, file), "utf8")), `${file} has export *`);
  }
});
