import assert from "node:assert/strict";
import { compareSpecificity, composePath, shapeOf } from "../../src/core/path.ts";
import { test } from "../test.ts";

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
  for (const routePath of ["/a b", "/a?b=c", "/a#b", "/a//b", "/\t"]) {
    assert.throws(() => composePath({ routePath }), {
      name: "TypeError",
      message: `Cannot compose a path with ${JSON.stringify(routePath)}: it is not a path`,
    });
  }
});

test("shapeOf() is one for patterns that differ in the names of parameters alone", () => {
  assert.equal(shapeOf("/users/:id"), shapeOf("/users/:user_id"));
  assert.notEqual(shapeOf("/users/:id"), shapeOf("/users/:id{[0-9]+}"));
  assert.notEqual(shapeOf("/users/:id"), shapeOf("/users/id"));
});

test("compareSpecificity() puts literals before parameters before wildcards", () => {
  const patterns = ["/a/*", "/:x/b", "/a/:id", "/a", "/a/:id{[0-9]+}", "/a/me", "/*", "/a/:id/b"];
  assert.deepEqual(patterns.toSorted(compareSpecificity), [
    "/a",
    "/a/me",
    "/a/:id{[0-9]+}",
    "/a/:id",
    "/a/:id/b",
    "/a/*",
    "/:x/b",
    "/*",
  ]);
});
