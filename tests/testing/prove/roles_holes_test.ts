/** Applications that let in others than they declare: `roles` finds each hole. */
import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import type { MiddlewareHandler } from "hono";
import {
  callerScopes,
  type Context,
  controller,
  type ControllerClass,
  type FwApplication,
  module,
  route,
  UnauthorizedException,
} from "../../../mod.ts";
import { OAuth2Error, OAuth2Principal, type VerifiedToken } from "../../../src/oauth2/mod.ts";
import { type Failure, prove, type ProveIdentity } from "../../../src/testing/mod.ts";
import { testOnce } from "../../support/test.ts";

const callers = { ann: {}, root: { roles: ["admin"] }, robot: { scope: "cats:write" } };

type SetUp = (app: FwApplication, identity: ProveIdentity) => unknown;

async function failuresOf(
  controllers: readonly ControllerClass[],
  setUp: SetUp,
): Promise<readonly Failure[]> {
  const root = module({ name: "AppModule", controllers });
  const report = await prove(root, { callers, setUp }).run({ only: ["roles"], seed: 1 });
  return report.parts.flatMap(({ failures }) => failures);
}

const COMPONENTS = {
  securitySchemes: { bearerAuth: { type: "http", scheme: "bearer" } },
} as const;

class AdminController extends controller("admin", { roles: ["admin"] }) {
  list = route.get("/cats", () => ["Tom"]);
}

class MeController extends controller("me") {
  me = route.get("/", { args: { me: OAuth2Principal } }, ({ me }) => ({ me: me.subject }));
}

class RobotController extends controller("robot", { scopes: ["cats:write"] }) {
  add = route.post("/:name", () => ({ ok: true }));
}

const hasKey = (c: Context) => c.req.header("authorization") !== undefined;

/** Refuses requests without a token to a path, as far as it recognizes the path. */
function guarding(isGuarded: (path: string) => boolean): MiddlewareHandler {
  return async (c, next) => {
    if (isGuarded(new URL(c.req.url).pathname) && !hasKey(c)) throw new UnauthorizedException();
    await next();
  };
}

class CatsController extends controller("cats") {
  list = route.get("/", { openapi: { security: [{ bearerAuth: [] }] } }, () => ["Tom"]);
}

class PublicController extends controller("about", { public: true }) {
  about = route.get("/", () => ({ name: "cats" }));
}

class OpenController extends controller("open") {
  list = route.get("/cats", () => ["Tom"]);
}

/** The applications by their holes. */
const HOLES: readonly (readonly [
  hole: string,
  controller: ControllerClass,
  setUp: SetUp,
  failures: readonly string[],
])[] = [
  [
    "an expired token that is accepted",
    MeController,
    (app) => app.useOAuth2({ verify: (token) => Promise.resolve({ claims: decoded(token) }) }),
    ["GET /me: it needs a token, and expired gets 200 instead of 401"],
  ],
  [
    "requests without a token that are accepted",
    CatsController,
    (app, { verifier }) => app.useOAuth2(verifier).enableOpenApi({ components: COMPONENTS }),
    ["anonymous", "expired"].map((name) =>
      `GET /cats: its operation is documented to need a token, and ${name} gets 200 instead of 401`
    ),
  ],
  [
    "a role that everybody has",
    AdminController,
    (app, { verifier }) => app.useOAuth2(verifier).useRoles(({ roles }) => roles ?? ["admin"]),
    [
      "GET /admin/cats: it needs one of the roles admin, and ann gets 200 instead of 403",
      "GET /admin/cats: it needs one of the roles admin, and robot gets 200 instead of 403",
    ],
  ],
  [
    "a role that nobody has",
    AdminController,
    (app, { verifier }) => app.useOAuth2(verifier).useRoles(() => ["user"]),
    ["GET /admin/cats: it needs one of the roles admin, and refuses root with 403"],
  ],
  [
    "a scope that is not required",
    RobotController,
    (app, { verifier }) =>
      app.useOAuth2(verifier).use(async (c, next) => {
        callerScopes.set(c, ["cats:write"]);
        await next();
      }, { afterAuthentication: true }),
    ["ann", "root"].map((name) =>
      `POST /robot/:name: it needs the scopes cats:write, and ${name} gets 200 instead of 403`
    ),
  ],
  [
    "valid tokens that are refused",
    MeController,
    (app, { verifier }) =>
      app.useOAuth2({
        async verify(token) {
          const verified = await verifier.verify(token);
          if (verified.claims.sub !== "root") return verified;
          throw new OAuth2Error({ code: "InvalidSignature" }, "It is that of root");
        },
      }),
    ["GET /me: it needs a token, and root, who has one, gets 401"],
  ],
  [
    "a public route that is not",
    PublicController,
    (app) => app.use(guarding(() => true)),
    ["GET /about: it is public, and anonymous gets 401"],
  ],
  [
    "HEAD without the guard of GET",
    OpenController,
    (app) => app.useGlobalGuards((c) => c.req.method === "HEAD" || hasKey(c)),
    ["GET /open/cats: HEAD answers 200 to anonymous, and GET 403"],
  ],
  [
    "a path with a slash at its end that is not protected",
    OpenController,
    (app) => app.use(guarding((path) => path === "/open/cats")),
    [
      "GET /open/cats: the path with a slash at its end answers 200 to anonymous, and GET 401",
      "GET /open/cats: the path with an encoded letter answers 200 to anonymous, and GET 401",
    ],
  ],
  [
    "a path with an encoded letter that is not protected",
    OpenController,
    (app) => app.use(guarding((path) => path.startsWith("/open"))),
    ["GET /open/cats: the path with an encoded letter answers 200 to anonymous, and GET 401"],
  ],
  [
    "OPTIONS that answers what GET does",
    OpenController,
    (app) =>
      app.use((c, next) => c.req.method === "OPTIONS" ? Promise.resolve(c.json(["Tom"])) : next()),
    ["GET /open/cats: OPTIONS answers 200 with a body to anonymous"],
  ],
  [
    "OPTIONS with an answer that does not end",
    OpenController,
    (app) => app.use((c, next) => c.req.method === "OPTIONS" ? endless() : next()),
    ["GET /open/cats: OPTIONS answers 200 with a body to anonymous"],
  ],
  [
    "a failure",
    OpenController,
    (app) => app.useGlobalGuards((c) => c.req.method === "HEAD" || failing()),
    ["GET /open/cats: it fails with 500 for anonymous"],
  ],
];

for (const [hole, controllerClass, setUp, expected] of HOLES) {
  testOnce(`the part roles finds ${hole}`, async () => {
    const failures = await failuresOf([controllerClass], setUp);
    assert.deepEqual(failures.map(({ subject, message }) => `${subject}: ${message}`), expected);
  });
}

testOnce("the part roles sends OPTIONS once to a route", async () => {
  let sent = 0;
  const count: MiddlewareHandler = async (c, next) => {
    if (c.req.method === "OPTIONS") sent++;
    await next();
  };
  assert.deepEqual(await failuresOf([OpenController], (app) => app.use(count)), []);
  assert.equal(sent, 1);
});

testOnce(
  "the part roles follows patterns of parameters that look ahead, without an operation",
  async () => {
    class HiddenController extends controller("hidden", { roles: ["admin"] }) {
      one = route.get("/:name{(?!new)[a-z]+}", { openapi: { hidden: true } }, () => ({}));
    }
    assert.deepEqual(
      await failuresOf([HiddenController], (app, { verifier }) => app.useOAuth2(verifier)),
      [],
    );
  },
);

testOnce("the part roles takes the answers of routes that declare OPTIONS", async () => {
  class PreflightController extends controller("open/cats") {
    options = route.options("/", () => ["GET"]);
  }
  class RestController extends controller("open") {
    rest = route.all("/*", () => ["what no other route handles"]);
  }
  for (const other of [PreflightController, RestController]) {
    assert.deepEqual(await failuresOf([OpenController, other], () => {}), []);
  }
});

function endless(): Promise<Response> {
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      stream.enqueue(new TextEncoder().encode("Tom"));
    },
  });
  return Promise.resolve(new Response(body));
}

function failing(): boolean {
  throw new TypeError("It fails");
}

/** Reads the claims of a token, without checking anything. */
function decoded(token: string): VerifiedToken["claims"] {
  return decodeJwt<VerifiedToken["claims"]>(token);
}
