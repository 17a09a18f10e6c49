/** The scopes of tokens, and routes that need them. */
import assert from "node:assert/strict";
import { controller, cookie, type FwApplication, module, route, scheme } from "../../mod.ts";
import { Principal } from "../../src/authn/mod.ts";
import {
  JwtVerifier,
  OAuth2Principal,
  type TokenVerifier,
  ValidationConfig,
} from "../../src/oauth2/mod.ts";
import type { TokenSource } from "../../src/oauth2/token_source.ts";
import { createTestApplication, DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { test } from "../support/test.ts";
import { issuer } from "./issuer.ts";

class OrdersController extends controller("orders") {
  create = route.post("/", { scopes: ["orders:write"] }, () => "created");
  move = route.put("/", { scopes: ["orders:write", "orders:read"] }, () => "moved");
  list = route.get("/", { roles: ["admin"] }, () => "listed");
  me = route.get("/me", { args: { me: Principal } }, ({ me }) => me);
  mine = route.get("/mine", { args: { me: OAuth2Principal } }, ({ me }) => me.scopes);
}
class ShopController extends controller("shop", { scopes: ["shop"] }) {
  closed = route.get("/closed", () => "in");
  open = route.get("/open", { public: true }, () => "in");
}
const OrdersModule = module({ name: "App", controllers: [OrdersController, ShopController] });

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const challenge = (response: Response) => [
  response.status,
  response.headers.get("www-authenticate"),
];

test("scopes are read from scope and scp, and are not roles", async () => {
  const { verifier, sign } = await issuer();
  await using app = await createTestApplication(OrdersModule, {
    setUp: (app) => app.useOAuth2(verifier),
  });
  for (
    const [claims, scopes, status] of [
      [{ scope: "openid orders:write" }, ["openid", "orders:write"], 200],
      [{ scope: " orders:write  orders:write " }, ["orders:write"], 200],
      [{ scp: ["orders:write", "admin"] }, ["orders:write", "admin"], 200],
      [{ scp: "openid orders:write" }, ["openid", "orders:write"], 200],
      [{ scope: "openid", scp: ["orders:write"] }, ["openid", "orders:write"], 200],
      [{ scope: "admin" }, ["admin"], 403],
      [{ roles: ["orders:write"] }, [], 403],
      [{ scope: "orders:writer orders" }, ["orders:writer", "orders"], 403],
      [{ scope: "Orders:Write" }, ["Orders:Write"], 403],
      [{ scope: "orders:write\torders" }, ["orders:write\torders"], 403],
      [{ scope: ["orders:write"] }, [], 403],
      [{ scp: ["openid orders:write"] }, ["openid orders:write"], 403],
      [{ scp: [["orders:write"], 7, null] }, [], 403],
      [{ scp: { "orders:write": true } }, [], 403],
      [{ scope: null, scp: null }, [], 403],
      [{ scope: "" }, [], 403],
      [{}, [], 403],
    ] as const
  ) {
    const headers = bearer(await sign(claims));
    const me = await (await app.request("/orders/me", { headers })).json();
    assert.deepEqual(me.scopes, scopes, JSON.stringify(claims));
    assert.deepEqual(await (await app.request("/orders/mine", { headers })).json(), scopes);
    assert.equal((await app.request("/orders", { headers, method: "POST" })).status, status);
    assert.equal((await app.request("/orders", { headers })).status, 403); // the role admin
  }
});

test("a token without a scope gets 403, and a challenge that names all that are needed", async () => {
  const { verifier, sign } = await issuer();
  const identified: TokenVerifier = {
    verify: (token) => Promise.resolve({ claims: { sub: "tom", exp: 4e9, scope: token } }),
  };
  const own: TokenSource = {
    description: "key",
    challenges: { missing: "Key", invalid: "Key", insufficient: "Key" },
    read: (c) => c.req.header("x-key"),
  };
  const error = 'error="insufficient_scope"';
  for (
    const [setUp, headers, expected] of [
      [
        (app) => app.useOAuth2(verifier),
        bearer(await sign({ scope: "orders:read" })),
        [
          `Bearer ${error}, scope="orders:write"`,
          `Bearer ${error}, scope="orders:write orders:read"`,
        ],
      ],
      [
        (app) => app.useAuthn(verifier),
        bearer(await sign({ scope: "orders:read" })),
        [
          `Bearer ${error}, scope="orders:write"`,
          `Bearer ${error}, scope="orders:write orders:read"`,
        ],
      ],
      [
        (app) => app.useOAuth2(identified, { from: scheme("Token") }),
        { authorization: "Token none" },
        [
          `Token ${error}, scope="orders:write"`,
          `Token ${error}, scope="orders:write orders:read"`,
        ],
      ],
      [
        (app) => app.useOAuth2(identified, { from: own }),
        { "x-key": "none" },
        ['Key scope="orders:write"', 'Key scope="orders:write orders:read"'],
      ],
      [
        (app) => app.useOAuth2(identified, { from: cookie("session") }),
        { cookie: "session=none", "sec-fetch-site": "same-origin" },
        [null, null],
      ],
    ] as readonly (readonly [
      (app: FwApplication) => unknown,
      Record<string, string>,
      readonly (string | null)[],
    ])[]
  ) {
    await using app = await createTestApplication(OrdersModule, { setUp });
    const answers = [];
    for (const method of ["POST", "PUT"]) {
      const response = await app.request("/orders", { method, headers });
      answers.push(challenge(response));
      assert.equal((await response.json()).detail, "A required scope is missing");
    }
    assert.deepEqual(answers, expected.map((value) => [403, value]));
  }
});

test("scopes hold over a socket, with the tokens of an identity provider", async () => {
  await using idp = await DevelopmentIdentityProvider.start({ audience: "orders" });
  const config = new ValidationConfig("EdDSA").withIssuer(idp.issuer).withAudience("orders");
  const verifier = await JwtVerifier.fromUrl(idp.jwksUrl, config);
  await using app = await createTestApplication(OrdersModule, {
    setUp: (app) => app.useOAuth2(verifier, { require: true }),
  });
  const server = await app.listen(0, { hostname: "127.0.0.1" });
  const ask = async (method: string, path: string, scope?: string) => {
    const token = scope && await idp.issueToken({ subject: "alice", scope });
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: token ? bearer(token) : {},
    });
    await response.body?.cancel();
    return challenge(response);
  };
  const refused = (scopes: string) => [403, `Bearer error="insufficient_scope", scope="${scopes}"`];
  assert.deepEqual(await ask("POST", "/orders"), [401, "Bearer"]);
  assert.deepEqual(await ask("POST", "/orders", "orders:read"), refused("orders:write"));
  assert.deepEqual(await ask("POST", "/orders", "orders:write"), [200, null]);
  assert.deepEqual(
    await ask("PUT", "/orders", "orders:write"),
    refused("orders:write orders:read"),
  );
  assert.deepEqual(await ask("PUT", "/orders", "orders:read orders:write"), [200, null]);
  assert.deepEqual(await ask("GET", "/shop/closed", "orders:read"), refused("shop"));
  assert.deepEqual(await ask("GET", "/shop/closed", "shop"), [200, null]);
  assert.deepEqual(await ask("HEAD", "/shop/closed", "orders:read"), refused("shop"));
  assert.deepEqual(await ask("GET", "/shop/closed"), [401, "Bearer"]);
  assert.deepEqual(await ask("GET", "/shop/open"), [200, null]);
});
