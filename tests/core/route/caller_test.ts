import assert from "node:assert/strict";
import {
  callerIdentity,
  callerRoles,
  callerScopes,
  ConflictException,
  type Context,
  controller,
  type FwApplication,
  module,
  route,
} from "../../../mod.ts";
import { OAuth2Principal } from "../../../src/oauth2/mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { issuer } from "../../oauth2/issuer.ts";

type Set = (c: Context) => void;

class CallerController extends controller() {
  any = route.get("/any", () => "in");
  roles = route.get("/roles", { roles: ["admin", "owner"] }, () => "in");
  scopes = route.get("/scopes", { scopes: ["orders:read", "orders:write"] }, () => "in");
  both = route.get("/both", { roles: ["admin"], scopes: ["orders:read"] }, () => "in");
  pub = route.get("/public", { public: true }, () => "in");
}
class AdminController extends controller("admin", { roles: ["admin"], scopes: ["admin:read"] }) {
  plain = route.get("/plain", () => 1);
  role = route.get("/role", { roles: ["auditor"] }, () => 1);
  scope = route.get("/scope", { scopes: ["audit"] }, () => 1);
  pub = route.get("/public", { public: true }, () => 1);
}
const CallerModule = module({ name: "App", controllers: [CallerController, AdminController] });

const tom: Set = (c) => callerIdentity.set(c, { subject: "tom" });

/** Returns the statuses of routes for a caller, by a guard, in an application with `require`. */
async function statuses(paths: readonly string[], ...sets: readonly Set[]): Promise<number[]> {
  const { verifier } = await issuer();
  await using app = await createTestApplication(CallerModule, {
    setUp: (app: FwApplication) =>
      app.useOAuth2(verifier, { require: true }).useGlobalGuards((c) => {
        for (const set of sets) set(c);
        return true;
      }),
  });
  return await Promise.all(paths.map(async (path) => (await app.request(path)).status));
}

for (
  const [what, set] of [
    ["no roles", (c) => callerRoles.set(c, [])],
    ["roles", (c) => callerRoles.set(c, ["admin"])],
    ["no scopes", (c) => callerScopes.set(c, [])],
    ["scopes", (c) => callerScopes.set(c, ["orders:read", "orders:write"])],
    ["an identity that is null", (c) => callerIdentity.set(c, null as never)],
    ["an identity that was removed", (c) => {
      tom(c);
      callerIdentity.set(c, undefined);
    }],
  ] as readonly (readonly [string, Set])[]
) {
  test(`a guard that sets ${what} does not identify the caller`, async () => {
    assert.deepEqual(
      await statuses(["/any", "/roles", "/scopes", "/both", "/public"], set),
      [401, 401, 401, 401, 200],
    );
  });
}

test("callerIdentity satisfies require, and has neither roles nor scopes", async () => {
  assert.deepEqual(
    await statuses(["/any", "/roles", "/scopes", "/both", "/public"], tom),
    [200, 403, 403, 403, 200],
  );
});

test("callerIdentity needs a subject", () =>
  captureLogs(["fw"], async () => {
    for (const identity of [{}, { subject: "" }, { subject: 7 }, "tom", true]) {
      const set: Set = (c) => callerIdentity.set(c, identity as never);
      assert.deepEqual(await statuses(["/any", "/roles", "/public"], set), [500, 500, 200]);
    }
  }));

test("a route with roles needs one of them, and one with scopes all", async () => {
  const roles = (...names: string[]): Set => (c) => callerRoles.set(c, names);
  const scopes = (...names: string[]): Set => (c) => callerScopes.set(c, names);
  const paths = ["/roles", "/scopes", "/both"];
  for (
    const [sets, expected] of [
      [[roles("admin")], [200, 403, 403]],
      [[roles("user", "owner")], [200, 403, 403]],
      [[roles("orders:read", "orders:write", "adm")], [403, 403, 403]],
      [[scopes("orders:read", "x", "orders:write")], [403, 200, 403]],
      [[scopes("orders:read")], [403, 403, 403]],
      [[scopes("admin", "owner")], [403, 403, 403]],
      [[roles("admin"), scopes("orders:read")], [200, 403, 200]],
      [[roles("admin"), scopes("orders:read", "orders:write")], [200, 200, 200]],
    ] as const
  ) {
    assert.deepEqual(await statuses(paths, tom, ...sets), expected);
  }
});

test("roles and scopes that are not lists are an error, as a text could contain a name", () =>
  captureLogs(["fw"], async () => {
    const text: Set = (c) => {
      callerRoles.set(c, "admin" as never);
      callerScopes.set(c, "orders:read orders:write" as never);
    };
    assert.deepEqual(await statuses(["/roles", "/scopes", "/any"], tom, text), [500, 500, 200]);
  }));

test("the roles and scopes of a controller apply to its routes without their own", async () => {
  const paths = ["/admin/plain", "/admin/role", "/admin/scope", "/admin/public"];
  const by = (roles: readonly string[], scopes: readonly string[]): Set => (c) => {
    callerRoles.set(c, roles);
    callerScopes.set(c, scopes);
  };
  assert.deepEqual(await statuses(paths, tom, by(["admin"], ["admin:read"])), [200, 403, 403, 200]);
  assert.deepEqual(
    await statuses(paths, tom, by(["auditor"], ["admin:read"])),
    [403, 200, 403, 200],
  );
  assert.deepEqual(await statuses(paths, tom, by(["admin"], ["audit"])), [403, 403, 200, 200]);
  assert.deepEqual(await statuses(paths), [401, 401, 401, 200]);
});

test("middleware can identify callers without useOAuth2() and useAuthn()", async () => {
  await using app = await createTestApplication(CallerModule, {
    setUp: (app) =>
      app.use(async (c, next) => {
        tom(c);
        callerRoles.set(c, ["admin"]);
        await next();
      }),
  });
  assert.equal((await app.request("/roles")).status, 200);
  const refused = await app.request("/scopes");
  assert.deepEqual(
    [refused.status, refused.headers.get("www-authenticate"), (await refused.json()).detail],
    [403, null, "A required scope is missing"],
  );
  assert.deepEqual(
    Object.fromEntries(
      app.routes().map(({ path, protection, ...rest }) => [
        path,
        [protection, rest.roles, rest.scopes],
      ]),
    ),
    {
      "/admin/plain": ["roles", ["admin"], ["admin:read"]],
      "/admin/public": ["public", [], []],
      "/admin/role": ["roles", ["auditor"], ["admin:read"]],
      "/admin/scope": ["roles", ["admin"], ["audit"]],
      "/any": ["open", [], []],
      "/both": ["roles", ["admin"], ["orders:read"]],
      "/public": ["public", [], []],
      "/roles": ["roles", ["admin", "owner"], []],
      "/scopes": ["scopes", [], ["orders:read", "orders:write"]],
    },
  );
});

class RefusingController extends controller("refusing", { guards: [() => false] }) {
  any = route.get("/any", () => 1);
  roles = route.get("/roles", { roles: ["admin"] }, () => 1);
  scopes = route.get("/scopes", { scopes: ["orders:read"] }, () => 1);
  caller = route.get("/caller", { args: { me: OAuth2Principal } }, () => 1);
  pub = route.get("/public", { public: true }, () => 1);
}
class FailingController extends controller("failing", { guards: [() => failed()] }) {
  any = route.get("/any", () => 1);
}

function failed(): never {
  throw new ConflictException("Not now");
}

test("a guard refuses anonymous callers of a route that needs an identity with 401", async () => {
  const { verifier, sign } = await issuer();
  const authorization = `Bearer ${await sign()}`;
  const refusing = module({ name: "App", controllers: [RefusingController, FailingController] });
  for (
    const [require, any] of [[true, 401], [false, 403]] as const
  ) {
    await using app = await createTestApplication(refusing, {
      setUp: (app) => app.useOAuth2(verifier, { require }),
    });
    const answers = async (headers: HeadersInit = {}) => {
      const all: Record<string, readonly [number, boolean]> = {};
      for (const name of ["any", "roles", "scopes", "caller", "public"]) {
        const answer = await app.request(`/refusing/${name}`, { headers });
        all[name] = [answer.status, answer.headers.has("www-authenticate")];
      }
      return all;
    };
    assert.deepEqual(await answers(), {
      any: [any, any === 401],
      roles: [401, true],
      scopes: [401, true],
      caller: [401, true],
      public: [403, false],
    });
    assert.deepEqual(
      Object.values(await answers({ authorization })),
      Array(5).fill([403, false]),
    );
    assert.equal((await app.request("/failing/any")).status, 409);
  }
});
