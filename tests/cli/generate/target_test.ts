import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readTarget } from "../../../src/cli/generate/target.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { test } from "../../support/test.ts";

const KINDS = "module controller service guard interceptor filter pipe dto model resource".split(
  " ",
);

test("readTarget() has one folder for a name, whatever its kind and number", () => {
  const expected = [
    [["user", "users", "User", "UserService"], "src/users"],
    [["person", "people"], "src/people"],
    [["UserProfile", "user_profiles"], "src/user_profiles"],
    [["admin/cat", "admin/cats"], "src/admin/cats"],
    [["news"], "src/news"],
    [["mail"], "src/mail"], // an area of the application, not a thing
    [["admin-only"], "src/admin_only"],
    [["user-billing"], "src/user_billing"],
  ] as const;
  using root = new TemporaryFolder();
  for (const [names, folder] of expected) {
    for (const name of names) {
      const kinds = name.endsWith("Service") ? ["service"] : KINDS;
      for (const kind of kinds) {
        assert.equal(readTarget(name, { root: root.path, kind }).folder, folder, `${kind} ${name}`);
      }
    }
  }
});

test("readTarget() uses the folder of a name that exists", () => {
  using root = new TemporaryFolder();
  for (const folder of ["user", "orders", "lib/cats"]) {
    mkdirSync(join(root.path, "src", folder), { recursive: true });
  }
  const folderOf = (name: string, options = {}) =>
    readTarget(name, { root: root.path, kind: "service", ...options }).folder;
  assert.equal(folderOf("user"), "src/user");
  assert.equal(folderOf("users"), "src/user");
  assert.equal(folderOf("order/item"), "src/orders/items");
  assert.equal(folderOf("users/setting"), "src/user/settings");
  assert.equal(folderOf("cat", { path: "src/lib" }), "src/lib/cats");
  assert.equal(folderOf("cat", { path: "src/lib", flat: true }), "src/lib");
});
