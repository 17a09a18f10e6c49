/** The content and size of the bundles of the entry points. */
import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { LEFT_OUT } from "../package/left_out.ts";
import { bundle, CORE_WITH_VERIFIER, MOST_CORE_KIB, sourceOf } from "./bundle.ts";

const KIB = 1024;

/** Modules that an application on the edge does not need. */
const HEAVY =
  /node_modules\/(kysely|kysely-[\w-]+|postgres|mysql2|prom-client|rate-limiter-flexible|ioredis|ws|@hono\/node-server|commander|@babel\/\w+)\/|src\/(cli|db|testing)\//;

const { gzipBytes, bytesOf } = await bundle(CORE_WITH_VERIFIER, { lazyParts: false });

test(`the core with the verifier is at most ${MOST_CORE_KIB} KiB, minified and compressed`, () => {
  assert.ok(gzipBytes <= MOST_CORE_KIB * KIB, `${gzipBytes} bytes`);
  assert.ok(gzipBytes > 20 * KIB, `${gzipBytes} bytes are too few for all of it`);
  assert.deepEqual(Object.keys(bytesOf).filter((file) => HEAVY.test(file)), []);
});

test("a bundle of the whole core has no database, driver, server, metrics, store or command line", async () => {
  const { code, bytesOf } = await bundle(sourceOf("./mod.ts"));
  assert.deepEqual(Object.keys(bytesOf).filter((file) => HEAVY.test(file)), []);
  assert.ok("src/openapi/create_document.ts" in bytesOf, "the lazy parts are in it");
  assert.match(code, /bundles for the edge leave them out/);
});

test("a bundle of the edge example has the database layer, and no driver except its own", async () => {
  const { bytesOf } = await bundle(sourceOf("./examples/edge.ts"));
  const packages = new Set(
    Object.keys(bytesOf).map((file) =>
      /node_modules\/((?:@[\w-]+\/)?[\w-]+)\/(?!.*node_modules)/.exec(file)?.[1]
    ),
  );
  assert.ok(packages.has("kysely") && packages.has("kysely-d1"));
  assert.deepEqual(LEFT_OUT.filter((name) => packages.has(name)), []);
  assert.deepEqual(Object.keys(bytesOf).filter((file) => /src\/(cli|testing)\//.test(file)), []);
});

test("the pattern of heavy modules matches them in a bundle that has them", async () => {
  const { bytesOf } = await bundle(sourceOf("./src/db/mod.ts"));
  assert.ok(Object.keys(bytesOf).some((file) => HEAVY.test(file)));
});
