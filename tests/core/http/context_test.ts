import { requestId as honoRequestId } from "hono/request-id";
import assert from "node:assert/strict";
import {
  callerIdentity,
  callerRoles,
  controller,
  module,
  requestId,
  type RequestIdOptions,
  route,
  slot,
} from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

test("slot() keeps one value for each request, apart from slots and variables of the same name", async () => {
  const one = slot<string>("tenant");
  const other = slot<number>("tenant");
  class TenantController extends controller() {
    show = route.get("/", (_, c) => ({
      one: one.get(c) ?? null,
      other: other.get(c) ?? null,
      variable: c.get("tenant"),
    }));
  }
  await using app = await createTestApplication(module({ controllers: [TenantController] }), {
    setUp: (app) =>
      app.use((c, next) => {
        c.set("tenant", "variable");
        one.set(c, c.req.query("tenant"));
        return next();
      }),
  });
  const read = async (path: string) => await (await app.request(path)).json();
  assert.deepEqual(await read("/?tenant=acme"), {
    one: "acme",
    other: null,
    variable: "variable",
  });
  assert.deepEqual(await read("/"), { one: null, other: null, variable: "variable" });
});

test("callerRoles is the only place where a route looks for the caller's roles", async () => {
  class AdminController extends controller() {
    admin = route.get("/", { roles: ["admin"] }, () => "in");
  }
  const statusWith = async (name: string) => {
    await using app = await createTestApplication(module({ controllers: [AdminController] }), {
      setUp: (app) =>
        app.use((c, next) => {
          callerIdentity.set(c, { subject: "ann" });
          c.set(name, ["admin"]);
          if (name === "slot") callerRoles.set(c, ["admin"]);
          return next();
        }),
    });
    return (await app.request("/")).status;
  };
  assert.deepEqual([await statusWith("roles"), await statusWith("callerRoles")], [403, 403]);
  assert.equal(await statusWith("slot"), 200);
});

test("the request id is Hono's variable of that name, whichever middleware sets it", async () => {
  class IdController extends controller() {
    show = route.get("/", (_, c) => ({ variable: c.get("requestId"), extracted: requestId(c) }));
    fail = route.get("/fail", () => {
      throw new Error("Broken");
    });
  }
  const generator: RequestIdOptions["generator"] = () => "own";
  await using own = await createTestApplication(module({ controllers: [IdController] }), {
    setUp: (app) => app.useRequestId({ generator }),
  });
  await using hono = await createTestApplication(module({ controllers: [IdController] }), {
    setUp: (app) => app.use(honoRequestId({ generator: () => "hono" })),
  });
  for (const [app, id] of [[own, "own"], [hono, "hono"]] as const) {
    assert.deepEqual(await (await app.request("/")).json(), { variable: id, extracted: id });
    assert.equal((await (await app.request("/fail")).json()).requestId, id);
  }
});
