import assert from "node:assert/strict";
import {
  compareSpecificity,
  composePath,
  segmentsOf,
  shapeOf,
} from "../../../src/core/route/path.ts";
import { test } from "../../support/test.ts";

test("composePath() joins /{globalPrefix}/{version}/{controllerPrefix}/{routePath}", () => {
  for (
    const [globalPrefix, version, controllerPrefix, routePath, path] of [
      ["api", "v1", "users", "/:id", "/api/v1/users/:id"],
      ["/api/", "/v1/", "/users/", "/", "/api/v1/users"],
      ["api", undefined, "/", "/", "/api"],
      [undefined, undefined, undefined, undefined, "/"],
      ["a/b", "v1", "", "c", "/a/b/v1/c"],
      ["", "", "files", "/:name{.+\\.png}", "/files/:name{.+\\.png}"],
      ["", "", "posts", "/:id?", "/posts/:id?"],
    ]
  ) assert.equal(composePath({ globalPrefix, version, controllerPrefix, routePath }), path);
});

test("composePath() refuses what is not a path", () => {
  for (
    const routePath of [
      "/a b",
      "/a?b=c",
      "/a#b",
      "/a//b",
      "/\t",
      "/a*",
      "/*b",
      "/:a?/b",
      "/a?",
      "/?",
      "/:",
      "/:{[0-9]+}",
      "/:a{[0-9]+",
      "/:a{[0-9]+}b",
      "/a{[0-9]+}",
      "/{a}",
      "/a}",
      "/./a",
      "/a/..",
      "/a\\b",
      "/%61",
      "/caf%c3%a9",
      "/a%20b",
    ]
  ) {
    assert.throws(() => composePath({ routePath }), {
      name: "TypeError",
      message: `Cannot compose ${JSON.stringify(routePath)}: it is not a path`,
    });
  }
});

test("composePath() keeps the escapes that the router does not decode", () => {
  for (const routePath of ["/a%2Fb", "/a%2fb%3Fc", "/100%", "/100%25", "/%40%24", "/caf\u00e9"]) {
    assert.equal(composePath({ routePath }), routePath);
  }
});

test("composePath() keeps the constraints of parameters", () => {
  for (
    const routePath of ["/:d{(?:cat|dog)}", "/:d{ab?}", "/:d{a:b}", "/:d{[0-9]{4}}/x", "/:p{.+/x}"]
  ) {
    assert.equal(composePath({ routePath }), routePath);
  }
});

test("composePath() refuses two parameters with the same name", () => {
  assert.throws(
    () => composePath({ controllerPrefix: "users/:id/posts", routePath: "/:id{[0-9]+}" }),
    {
      name: "TypeError",
      message: "Cannot compose /users/:id/posts/:id{[0-9]+}: two parameters are named id",
    },
  );
});

test("shapeOf() is the same for patterns that differ only in the names of parameters", () => {
  assert.equal(shapeOf("/users/:id"), shapeOf("/users/:user_id"));
  assert.notEqual(shapeOf("/users/:id"), shapeOf("/users/:id{[0-9]+}"));
  assert.notEqual(shapeOf("/users/:id"), shapeOf("/users/id"));
  assert.notEqual(shapeOf("/:d{a:b}"), shapeOf("/:d{a:c}"));
  assert.equal(shapeOf("/:d{a/b}"), shapeOf("/:e{a/b}"));
});

test("compareSpecificity() puts literals before parameters before wildcards", () => {
  const patterns = [
    "/a/*",
    "/a/*/edit",
    "/:x/b",
    "/a/:id",
    "/a",
    "/a/:id{[0-9]+}",
    "/a/me",
    "/*",
    "/a/:id/b",
  ];
  const sorted = patterns.map(segmentsOf).sort(compareSpecificity);
  assert.deepEqual(sorted.map((segments) => `/${segments.join("/")}`), [
    "/a",
    "/a/me",
    "/a/:id{[0-9]+}",
    "/a/:id",
    "/a/:id/b",
    "/a/*/edit",
    "/a/*",
    "/:x/b",
    "/*",
  ]);
});
