import assert from "node:assert/strict";
import { healthCheckPlugin, trustedProxyPlugin } from "../../src/application/lazy_plugins.ts";
import { test } from "../support/test.ts";

test("healthCheckPlugin() refuses a time limit that is out of range", () => {
  for (const timeoutMs of [0, -1, NaN, Infinity, 2 ** 31]) {
    assert.throws(() => healthCheckPlugin("/health", { timeoutMs }), {
      name: "RangeError",
      message: `Cannot check health: ${timeoutMs} ms is not a time limit`,
    });
  }
});

test("trustedProxyPlugin() refuses hops that are not a positive integer", () => {
  for (const hops of [0, -1, 1.5, NaN, Infinity]) {
    assert.throws(() => trustedProxyPlugin({ hops }), {
      name: "RangeError",
      message: `Cannot trust proxies: ${hops} hops is not a positive integer`,
    });
  }
});
