import assert from "node:assert/strict";
import process from "node:process";
import { isProduction } from "../../src/middleware/production_errors.ts";
import { test } from "../test.ts";

test("isProduction() is true exactly when FW_ENV is production", () => {
  const before = process.env.FW_ENV;
  try {
    const seen = [undefined, "", "production", "Production", "development"].map((value) => {
      if (value === undefined) delete process.env.FW_ENV;
      else process.env.FW_ENV = value;
      return isProduction();
    });
    assert.deepEqual(seen, [false, false, true, false, false]);
  } finally {
    if (before === undefined) delete process.env.FW_ENV;
    else process.env.FW_ENV = before;
  }
});
