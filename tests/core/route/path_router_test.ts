import assert from "node:assert/strict";
import fc from "fast-check";
import type { Result } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";
import { PathRouter } from "../../../src/core/route/path_router.ts";
import { test } from "../../support/test.ts";

const METHODS = ["GET", "GET", "POST", "PROPFIND"] as const;
const UNKNOWN = ["valueOf", "__proto__", "TRACE"] as const;
const INNER = [
  "a",
  "b",
  "aa",
  "42",
  ":id",
  ":x",
  ":n{[0-9]+}",
  ":r{.+}",
  ":s{a|b/c}",
  "*",
] as const;
const LAST = [...INNER, ":o?", "a*", ""] as const;
const SEGMENTS = ["a", "b", "aa", "42", "c", "ab", "", ":id", "*", "%41", "b?", "*a", "__proto__"];

const arbitraryPattern = fc.tuple(
  fc.array(fc.constantFrom(...INNER), { maxLength: 2 }),
  fc.constantFrom(...LAST),
).map(([inner, last]) => `/${[...inner, last].join("/")}`);
const arbitraryRoute = fc.tuple(fc.constantFrom(...METHODS, "ALL"), arbitraryPattern);
const arbitraryRequest = fc.tuple(
  fc.constantFrom(...METHODS, ...UNKNOWN),
  fc.array(fc.constantFrom(...SEGMENTS), { minLength: 1, maxLength: 4 })
    .map((segments) => `/${segments.join("/")}`),
);

test("PathRouter finds the handlers and parameters that Hono's trie router finds", () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryRoute, { minLength: 1, maxLength: 12, size: "max" }),
      fc.array(arbitraryRequest, { minLength: 1, maxLength: 30, size: "max" }),
      (routes, requests) => {
        const [paths, trie] = [new PathRouter<number>(), new TrieRouter<number>()];
        const half = routes.length / 2;
        routes.forEach(([method, pattern], index) => {
          for (const router of [paths, trie]) router.add(method, pattern, index);
          if (index < half) paths.match("GET", pattern); // a match does not hide later routes
        });
        for (const [method, path] of [...requests, ...requests]) {
          const literal = path.replaceAll("/:", "/%3A").replaceAll(/\/\*(?=\/|$)/g, "/%2A");
          assert.deepEqual(
            found(paths.match(method, path)),
            found(trie.match(UNKNOWN.some((it) => it === method) ? "ALL" : method, literal)),
            `${method} ${path}`,
          );
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test("PathRouter returns the same handlers for every value of a parameter", () => {
  const router = new PathRouter<string>();
  router.add("GET", "/users/:id", "user");
  router.add("ALL", "/*", "middleware");
  for (let index = 0; index < 100; index++) {
    const [handlers] = router.match("GET", `/users/${index}`);
    assert.equal(handlers, router.match("GET", `/users/x${index}`)[0]);
    assert.equal(router.match("GET", `/${index}/users/${index}`)[0].length, 1);
  }
});

/** Lists the handlers of a match, each with the values of its parameters. */
function found([handlers, values]: Result<number>): unknown {
  return handlers.map(([handler, params]) => [
    handler,
    Object.fromEntries(
      Object.entries(params).map(([name, value]) => [
        name,
        decodeURIComponent(typeof value === "number" ? values?.[value] as string : value),
      ]),
    ),
  ]);
}
