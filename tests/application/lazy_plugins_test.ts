import assert from "node:assert/strict";
import { healthCheckPlugin, trustedProxyPlugin } from "../../src/application/lazy_plugins.ts";
import { clientIp, controller, FwFactory, module, route } from "../../mod.ts";
import { test } from "../support/test.ts";

test("healthCheckPlugin() refuses a time limit that is out of range", () => {
  for (const timeoutMs of [0, -1, NaN, Infinity, 2 ** 31]) {
    assert.throws(() => healthCheckPlugin("/health", { timeoutMs }), {
      name: "RangeError",
      message: `Cannot check health: ${timeoutMs} ms is not a time limit`,
    });
  }
});

test("trustedProxyPlugin() refuses hops that are not a whole number", () => {
  for (const hops of [-1, 1.5, NaN, Infinity]) {
    assert.throws(() => trustedProxyPlugin({ hops }), {
      name: "RangeError",
      message: `Cannot trust proxies: ${hops} hops is not 0 or a positive integer`,
    });
  }
});

test("useTrustedProxy() with 0 hops ignores X-Forwarded-For, also after a call with more", async () => {
  class AddressController extends controller() {
    address = route.get("/", (_, c) => c.text(String(clientIp(c))));
  }
  const headers = { "x-forwarded-for": "192.0.2.1" };
  const env = { remoteAddr: { hostname: "203.0.113.7" } };
  for (const [hops, address] of [[[1], "192.0.2.1"], [[1, 0], "203.0.113.7"]] as const) {
    const app = await FwFactory.create(module({ controllers: [AddressController] }));
    for (const each of hops) app.useTrustedProxy({ hops: each });
    assert.equal(await (await app.request("/", { headers, env })).text(), address);
  }
});
