import assert from "node:assert/strict";
import { healthCheckPlugin, trustedProxyPlugin } from "../../src/application/lazy_plugins.ts";
import { clientIp, controller, type FwApplication, FwFactory, module, route } from "../../mod.ts";
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

test("an application refuses unknown options, which would have no effect", async () => {
  const app = await FwFactory.create(module({}));
  const cases: readonly (readonly [(app: FwApplication, it: object) => void, object, string])[] = [
    [(app, it) => app.useRequestTracing(it), { skipPath: ["/"] }, "trace requests: skipPath"],
    [(app, it) => app.useRequestId(it), { header: "x-id" }, "use request ids: header"],
    [(app, it) => app.enableMetrics("/metrics", it), { register: {} }, "count requests: register"],
    [(app, it) => app.enableUriVersioning(it), { default: "v1" }, "version routes: default"],
    [(app, it) => app.enableHeaderVersioning(it), { name: "X" }, "version routes: name"],
    [(app, it) => app.enableMediaTypeVersioning(it), { header: "v" }, "version routes: header"],
    [(app, it) => app.enableOpenApi(it), { docs: false }, "enable OpenAPI: docs"],
  ];
  for (const [set, options, what] of cases) {
    const message = new RegExp(`^Cannot ${what} is not an option`);
    assert.throws(() => set(app, options), { name: "TypeError", message });
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
