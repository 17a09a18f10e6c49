import assert from "node:assert/strict";
import { SERVICE_MEMBERS } from "../../../src/cli/generate/kinds/model.ts";
import { DbService } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";

test("SERVICE_MEMBERS has the members that no repository of a service can be named after", () => {
  const members = Object.getOwnPropertyNames(DbService.prototype)
    .filter((name) => !name.startsWith("~"));
  assert.deepEqual(members.filter((name) => !SERVICE_MEMBERS.has(name)), []);
  assert.throws(() => DbService.with({ kysely: {} as never }), /its own kysely/);
  assert.ok(SERVICE_MEMBERS.has("kysely"));
});
