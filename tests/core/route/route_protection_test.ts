import assert from "node:assert/strict";
import {
  type Context,
  controller,
  type FwApplication,
  FwFactory,
  module,
  optional,
  route,
} from "../../../mod.ts";
import { Principal } from "../../../src/authn/mod.ts";
import { OAuth2Guard, OAuth2Principal } from "../../../src/oauth2/mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

class MeController extends controller("me") {
  me = route.get("/", { args: { me: OAuth2Principal } }, ({ me }) => me.subject);
}
const MeModule = module({ name: "App", controllers: [MeController] });
const verifier = { verify: () => Promise.reject(new Error("not asked")) };

const refusal = {
  name: "TypeError",
  message: "Cannot mount App.MeController.me: me requires an identity, but no authentication is " +
    "installed; call app.useOAuth2() or app.useAuthn()",
};

for (
  const [what, setUp] of [
    ["nothing", (app) => app],
    [
      "other plugins",
      (app) =>
        app.useRequestId().useRequestTracing().useTrustedProxy({ hops: 1 }).useRateLimit()
          .enableMetrics().enableHealthCheck().enableOpenApi(),
    ],
    ["a guard that needs an identity itself", (app) => app.useGlobalGuards(OAuth2Guard)],
    ["middleware", (app) => app.use((_, next) => next())],
    ["middleware of some paths", (app) => app.use("/me", (_, next) => next())],
    [
      "plugins of other slots",
      (app) =>
        app.use((_, next) => next(), { afterAuthentication: true })
          .plug({ slot: "use", install: () => {} }, { slot: "rateLimit", install: () => {} }),
    ],
    [
      "interceptors and filters",
      (app) => app.useGlobalInterceptors((_, next) => next()).useGlobalFilters(() => {}),
    ],
  ] as [string, (app: FwApplication) => FwApplication][]
) {
  test(`an application refuses a route that needs an identity with ${what}`, async () => {
    const app = setUp(await FwFactory.create(MeModule));
    await assert.rejects(app.ready(), refusal);
    await assert.rejects(app.listen(0), refusal);
    await assert.rejects(app.request("/me"), refusal);
    await app.close();
  });
}

for (
  const [what, setUp] of [
    ["useOAuth2()", (app) => app.useOAuth2(verifier)],
    ["useAuthn()", (app) => app.useAuthn(verifier)],
    ["a plugin in slot authn", (app) => app.plug({ slot: "authn", install: () => {} })],
    ["a plugin in slot oauth2", (app) => app.plug({ slot: "oauth2", install: () => {} })],
    ["a global guard", (app) => app.useGlobalGuards(() => true)],
  ] as [string, (app: FwApplication) => FwApplication][]
) {
  test(`an application serves a route that needs an identity with ${what}`, async () => {
    await using app = await createTestApplication(MeModule, { setUp });
    assert.equal((await app.request("/me")).status, 401);
  });
}

test("guards of a controller and of a route can identify a caller", async () => {
  const letIn = () => true;
  class OwnController extends controller("own") {
    own = route.get("/", { args: { me: Principal }, guards: [letIn] }, () => 1);
  }
  class GuardedController extends controller("guarded", { guards: [letIn] }) {
    guarded = route.get("/", { args: { me: Principal } }, () => 1);
  }
  await using app = await createTestApplication(
    module({ controllers: [OwnController, GuardedController] }),
  );
  assert.equal((await app.request("/own")).status, 401);
});

test("an application without authentication serves what does not need an identity", async () => {
  const agent = (c: Context) => c.req.header("user-agent");
  class HomeController extends controller() {
    home = route.get(
      "/",
      { args: { me: optional(Principal), agent } },
      ({ me }) => me ?? "stranger",
    );
  }
  await using app = await createTestApplication(module({ controllers: [HomeController] }));
  assert.equal(await (await app.request("/")).json(), "stranger");
});

test("a preview lists and describes a route that needs an identity", async () => {
  const app = await FwFactory.create(MeModule, { preview: true });
  assert.deepEqual(app.routes().map(({ protection }) => protection), ["identity"]);
  assert.deepEqual(Object.keys((await app.openApi()).paths), ["/me"]);
});
