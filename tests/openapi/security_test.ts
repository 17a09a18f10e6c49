import assert from "node:assert/strict";
import {
  type Context,
  controller,
  type FwApplication,
  FwFactory,
  module,
  type OpenApiOptions,
  optional,
  type Route,
  route,
  type RouteOpenApi,
  UnauthorizedException,
} from "../../mod.ts";
import { Principal } from "../../src/authn/mod.ts";
import { OAuth2Guard, OAuth2Principal } from "../../src/oauth2/mod.ts";
import type { OperationObject } from "../../src/openapi/openapi_document.ts";
import { test } from "../support/test.ts";
import {
  controllerOf,
  type ControllerSettings,
  documentOf,
  OK as ANY,
  operationOf,
  problem,
} from "./described.ts";

const BEARER = { type: "http", scheme: "bearer" } as const;
const API_KEY = { type: "apiKey", in: "header", name: "x-api-key" } as const;
const OAUTH2 = {
  type: "oauth2",
  flows: {
    authorizationCode: {
      authorizationUrl: "https://id.example.com/authorize",
      tokenUrl: "https://id.example.com/token",
      scopes: { openid: "Who you are" },
    },
  },
} as const;

const INFERRED: OpenApiOptions = {
  inferRouteSecurityFromRoles: true,
  components: { securitySchemes: { bearerAuth: BEARER } },
};

const OK = { 200: ANY };
const UNAUTHORIZED = { 401: { $ref: "#/components/responses/Unauthorized" } };
const FORBIDDEN = { 403: { $ref: "#/components/responses/Forbidden" } };
function letIn(): boolean {
  return true;
}
function apiKey(c: Context): string {
  return c.req.header("x-api-key") ?? UnauthorizedException.throw();
}
class OwnGuard {
  canActivate(): boolean {
    return true;
  }
}
class LenientGuard extends OAuth2Guard {
  override canActivate(): boolean {
    return true;
  }
}

/** A way to protect a route, and the inferred security of its operation. */
interface ProtectionRow {
  readonly thing: Route;
  readonly settings?: ControllerSettings;
  readonly setUp?: (app: FwApplication) => unknown;
  readonly responses: OperationObject["responses"];
  readonly security: OperationObject["security"];
}

const open = route.get("/", () => 1);
const needed = [{ bearerAuth: [] }];
const verifier = { verify: () => Promise.reject(new Error("not asked")) };

const PROTECTIONS: Readonly<Record<string, ProtectionRow>> = {
  "nothing": { thing: open, responses: OK, security: undefined },
  "roles": {
    thing: route.get("/", { roles: ["admin"] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: needed,
  },
  "several roles": {
    thing: route.get("/", { roles: ["admin", "owner"] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: needed,
  },
  "the roles of its controller": {
    thing: open,
    settings: { roles: ["admin"] },
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: needed,
  },
  "its own roles rather than its controller's": {
    thing: route.get("/", { roles: ["owner"] }, () => 1),
    settings: { roles: ["admin"] },
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: needed,
  },
  "nothing, being public in a controller with roles": {
    thing: route.get("/", { public: true }, () => 1),
    settings: { roles: ["admin"] },
    responses: OK,
    security: undefined,
  },
  "scopes": {
    thing: route.get("/", { scopes: ["orders:read", "orders:write"] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: [{ bearerAuth: ["orders:read", "orders:write"] }],
  },
  "the scopes of its controller": {
    thing: open,
    settings: { scopes: ["orders:read"] },
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: [{ bearerAuth: ["orders:read"] }],
  },
  "its own scopes rather than its controller's": {
    thing: route.get("/", { scopes: ["orders:write"] }, () => 1),
    settings: { scopes: ["orders:read"] },
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: [{ bearerAuth: ["orders:write"] }],
  },
  "roles, and the scopes of its controller": {
    thing: route.get("/", { roles: ["admin"] }, () => 1),
    settings: { scopes: ["orders:read"] },
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: [{ bearerAuth: ["orders:read"] }],
  },
  "nothing, being public in a controller with scopes": {
    thing: route.get("/", { public: true }, () => 1),
    settings: { scopes: ["orders:read"] },
    responses: OK,
    security: undefined,
  },
  "OAuth2Guard": {
    thing: route.get("/", { guards: [OAuth2Guard] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "OAuth2Guard of its controller": {
    thing: open,
    settings: { guards: [OAuth2Guard] },
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "OAuth2Guard of all routes": {
    thing: open,
    setUp: (app) => app.useGlobalGuards(OAuth2Guard),
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "OAuth2Guard, though it is public": {
    thing: route.get("/", { guards: [OAuth2Guard], public: true }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "OAuth2Principal": {
    thing: route.get("/", { args: { me: OAuth2Principal } }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "Principal": {
    thing: route.get("/", { args: { me: Principal } }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "optional(OAuth2Principal), which callers may do without": {
    thing: route.get("/", { args: { me: optional(OAuth2Principal) } }, () => 1),
    responses: OK,
    security: [{}, { bearerAuth: [] }],
  },
  "optional(Principal), which callers may do without": {
    thing: route.get("/", { args: { me: optional(Principal) } }, () => 1),
    responses: OK,
    security: [{}, { bearerAuth: [] }],
  },
  "optional(OAuth2Principal) behind roles": {
    thing: route.get("/", { roles: ["admin"], args: { me: optional(OAuth2Principal) } }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: needed,
  },
  "useOAuth2(verifier, { require: true })": {
    thing: open,
    setUp: (app) => app.useOAuth2(verifier, { require: true }),
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "useAuthn(service, { require: true })": {
    thing: open,
    setUp: (app) => app.useAuthn(verifier, { require: true }),
    responses: { ...OK, ...UNAUTHORIZED },
    security: needed,
  },
  "nothing, being public where an identity is required": {
    thing: route.get("/", { public: true }, () => 1),
    setUp: (app) => app.useOAuth2(verifier, { require: true }),
    responses: OK,
    security: undefined,
  },
  "nothing, where tokens are verified and not required": {
    thing: open,
    setUp: (app) => app.useOAuth2(verifier),
    responses: OK,
    security: undefined,
  },
  "a guard of the application, whose requirements are unknown": {
    thing: route.get("/", { guards: [letIn] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: undefined,
  },
  "a guard as a class": {
    thing: route.get("/", { guards: [OwnGuard] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: undefined,
  },
  "a guard of its controller": {
    thing: open,
    settings: { guards: [letIn] },
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: undefined,
  },
  "a guard of all routes": {
    thing: open,
    setUp: (app) => app.useGlobalGuards(letIn),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: undefined,
  },
  "a class that extends OAuth2Guard, and may let anybody pass": {
    thing: route.get("/", { guards: [LenientGuard] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: undefined,
  },
  "OAuth2Guard and a guard of the application": {
    thing: route.get("/", { guards: [OAuth2Guard, letIn] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: needed,
  },
  "roles and a guard of the application": {
    thing: route.get("/", { guards: [letIn], roles: ["admin"] }, () => 1),
    responses: { ...OK, ...UNAUTHORIZED, ...FORBIDDEN },
    security: needed,
  },
  "an extractor of the application": {
    thing: route.get("/", { args: { key: apiKey } }, () => 1),
    responses: OK,
    security: undefined,
  },
};

for (const [what, row] of Object.entries(PROTECTIONS)) {
  const { thing, settings, setUp, responses, security } = row;
  const given = { ...settings && { settings }, ...setUp && { setUp } };

  test(`OpenAPI generation: security: inferred, a route protected by ${what}`, async () => {
    const operation = await operationOf(thing, { ...given, openApi: INFERRED });
    assert.deepEqual(operation.security, security);
    assert.deepEqual(operation.responses, responses);
  });

  test(`OpenApiOptions: infer_route_security_from_roles is false by default: a route protected by ${what}`, async () => {
    const operation = await operationOf(thing, given);
    assert.equal("security" in operation, false);
    assert.deepEqual(operation.responses, responses);
  });
}

test("OpenAPI table: 403 of every route with roles is the shared one, and does not name roles", async () => {
  const document = await documentOf(controllerOf({
    admin: route.get("/admin", { roles: ["secret-admin"] }, () => 1),
    owner: route.post("/owner", { roles: ["secret-owner", "secret-admin"] }, () => 1),
    guarded: route.get("/guarded", { guards: [letIn] }, () => 1),
    own: route.get(
      "/own",
      { roles: ["secret-admin"], openapi: { responses: { 403: "Admins alone" } } },
      () => 1,
    ),
  }));
  const { paths, components } = document;
  const forbidden = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId, responses }) => [
      operationId.split(".").at(-1),
      responses[403],
    ])
  );
  assert.deepEqual(Object.fromEntries(forbidden), {
    admin: FORBIDDEN[403],
    owner: FORBIDDEN[403],
    guarded: FORBIDDEN[403],
    own: problem(403, "Admins alone"),
  });
  assert.deepEqual(components?.responses, {
    Forbidden: problem(403, "The caller is not allowed to do this"),
    Unauthorized: problem(401, "Authentication is missing or invalid"),
  });
  assert.doesNotMatch(JSON.stringify(document), /secret/);
});

/** The security that a route declares, and that of its operation. */
const OWN: Readonly<Record<string, readonly [Route, ControllerSettings?]>> = {
  "an open route": [route.get("/", { openapi: { security: [{ key: [] }] } }, () => 1)],
  "a route with roles": [
    route.get("/", { roles: ["admin"], openapi: { security: [{ key: [] }] } }, () => 1),
  ],
  "a route with OAuth2Guard": [
    route.get("/", { guards: [OAuth2Guard], openapi: { security: [{ key: [] }] } }, () => 1),
  ],
  "a route with optional(OAuth2Principal)": [
    route.get(
      "/",
      { args: { me: optional(OAuth2Principal) }, openapi: { security: [{ key: [] }] } },
      () => 1,
    ),
  ],
  "a public route": [
    route.get("/", { public: true, openapi: { security: [{ key: [] }] } }, () => 1),
  ],
  "a route of a controller with roles": [
    route.get("/", { openapi: { security: [{ key: [] }] } }, () => 1),
    { roles: ["admin"] },
  ],
};

for (const [what, [thing, settings]] of Object.entries(OWN)) {
  test(`OpenAPI route annotation: security takes precedence over inferred security, and over that of the root: ${what}`, async () => {
    const components = { securitySchemes: { bearerAuth: BEARER, key: API_KEY } };
    for (
      const openApi of [
        { components },
        { components, security: [{ bearerAuth: [] }] },
        { components, inferRouteSecurityFromRoles: true },
        { components, inferRouteSecurityFromRoles: true, security: [{ bearerAuth: [] }] },
      ]
    ) {
      const { security } = await operationOf(thing, { openApi, ...settings && { settings } });
      assert.deepEqual(security, [{ key: [] }]);
    }
  });
}

test("OpenAPI route annotation: security is written as declared: any of several, all of some, with scopes, or none", async () => {
  const openApi: OpenApiOptions = {
    inferRouteSecurityFromRoles: true,
    components: { securitySchemes: { bearerAuth: BEARER, key: API_KEY, provider: OAUTH2 } },
    security: [{ bearerAuth: [] }],
  };
  const securities: readonly NonNullable<RouteOpenApi["security"]>[] = [
    [],
    [{}],
    [{}, { key: [] }],
    [{ key: [], bearerAuth: [] }, { provider: ["openid"] }],
  ];
  for (const security of securities) {
    const thing = route.get("/", { roles: ["admin"], openapi: { security } }, () => 1);
    assert.deepEqual((await operationOf(thing, { openApi })).security, security);
  }
});

test("OpenAPI route annotation: security does not change which problems there are", async () => {
  const { responses } = await operationOf(
    route.get("/", { roles: ["admin"], openapi: { security: [] } }, () => 1),
  );
  assert.deepEqual(responses, { ...OK, ...UNAUTHORIZED, ...FORBIDDEN });
});

test("OpenApiOptions: roles_security_scheme names the scheme; several may be declared", async () => {
  const thing = route.get("/", { roles: ["admin"] }, () => 1);
  const openApi = {
    inferRouteSecurityFromRoles: true,
    rolesSecurityScheme: "identityProvider",
    components: { securitySchemes: { bearerAuth: BEARER, identityProvider: OAUTH2 } },
  };
  const { security } = await operationOf(thing, { openApi });
  assert.deepEqual(security, [{ identityProvider: [] }]);
});

test("OpenApiOptions: security is at the root, for operations without their own", async () => {
  const controller = controllerOf({
    open: route.get("/open", () => 1),
    open_to_all: route.get("/public", { public: true }, () => 1),
    roles: route.get("/roles", { roles: ["admin"] }, () => 1),
    optional: route.get("/optional", { args: { me: optional(OAuth2Principal) } }, () => 1),
  });
  const openApi: OpenApiOptions = {
    components: { securitySchemes: { bearerAuth: BEARER, key: API_KEY } },
    security: [{ key: [] }, { key: [], bearerAuth: [] }],
  };
  const securities = async (options: OpenApiOptions) => {
    const { security, paths } = await documentOf(controller, { openApi: options });
    return [security, ...Object.values(paths).map(({ get }) => get?.security)];
  };
  assert.deepEqual(await securities(openApi), [
    [{ key: [] }, { key: [], bearerAuth: [] }],
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(await securities({ ...openApi, inferRouteSecurityFromRoles: true }), [
    [{ key: [] }, { key: [], bearerAuth: [] }],
    undefined,
    [{}, { bearerAuth: [] }],
    [],
    [{ bearerAuth: [] }],
  ]);
});

test("OpenApiOptions: no security at the root, where it is missing or empty", async () => {
  const controller = controllerOf({ open });
  for (const openApi of [{}, { security: [] }]) {
    assert.deepEqual((await documentOf(controller, { openApi })).security, []);
  }
  const anonymous = await documentOf(controller, { openApi: { security: [{}] } });
  assert.deepEqual(anonymous.security, [{}]);
});

test("OpenApiOptions: components.securitySchemes are in the document unchanged", async () => {
  const securitySchemes = {
    bearerAuth: { ...BEARER, bearerFormat: "JWT", description: "Of the provider" },
    key: API_KEY,
    identityProvider: OAUTH2,
    openId: { type: "openIdConnect", openIdConnectUrl: "https://id.example.com/.well-known" },
    certificate: { type: "mutualTLS" },
  } as const;
  const { components } = await documentOf(controllerOf({ open }), {
    openApi: { components: { securitySchemes } },
  });
  assert.deepEqual(components, { securitySchemes });
});

test("openApi() hands out no security of a route's own, which somebody could change", async () => {
  class OwnController extends controller() {
    one = route.get("/own", { openapi: { security: [{ key: [] }] } }, () => 1);
  }
  const app = await FwFactory.create(module({ controllers: [OwnController] }));
  app.enableOpenApi({
    components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "x-key" } } },
  });
  const securityOf = async () => (await app.openApi()).paths["/own"]?.get?.security;
  (await securityOf() as object[]).push({});
  assert.deepEqual(await securityOf(), [{ key: [] }]);
});
