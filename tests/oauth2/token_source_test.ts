/** Where `useOAuth2` and `useAuthn` find tokens: `bearer`, `scheme` and `cookie`, over real connections. */
import assert from "node:assert/strict";
import type { LogRecord } from "@logtape/logtape";
import { Hono } from "hono";
import {
  bearer,
  controller,
  cookie,
  type FwApplication,
  FwFactory,
  type HttpServer,
  module,
  optional,
  route,
  scheme,
  type TokenSource,
  upgradeWebSocket,
} from "../../mod.ts";
import { JwtKey, JwtService, Principal } from "../../src/authn/mod.ts";
import { OAuth2Error } from "../../src/oauth2/ground/errors.ts";
import { OAuth2Principal } from "../../src/oauth2/principal.ts";
import { RawClient } from "../runtime/raw_client.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

class ProbeController extends controller() {
  me = route.get("/me", { args: { me: OAuth2Principal } }, ({ me }) => me.subject);
  write = route.post("/me", { args: { me: OAuth2Principal } }, ({ me }) => me.subject);
  remove = route.delete("/me", { args: { me: OAuth2Principal } }, ({ me }) => me.subject);
  maybe = route.post(
    "/maybe",
    { args: { me: optional(OAuth2Principal) } },
    ({ me }) => me?.subject ?? "anonymous",
  );
  open = route.post("/open", () => "in");
  admin = route.get("/admin", { roles: ["admin"] }, () => "in");
  socket = route.get(
    "/socket",
    { args: { me: OAuth2Principal } },
    (_, c) => upgradeWebSocket(c, {}),
  );
  either = route.get("/either", { args: { me: Principal } }, ({ me }) => me.source);
}

/** Accepts tokens that begin with `good`; their subject follows a dash. */
const verifier = {
  verify(token: string) {
    const [, sub] = /^good-(.+)$/.exec(token) ?? [];
    return sub
      ? Promise.resolve({ claims: { sub, exp: 4e9 } })
      : Promise.reject(new OAuth2Error({ code: "Validation" }, "Cannot verify token: it is bad"));
  },
};

type Headers = Readonly<Record<string, string>>;

type Ask = (request: string, headers?: Headers) => Promise<Answer>;

interface Served {
  readonly server: HttpServer;
  readonly records: readonly LogRecord[];
}

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly body: string;
}

/** Serves the probe for the time of a test, and sends it requests as they are written. */
function serving(
  setUp: (app: FwApplication) => unknown,
  body: (ask: Ask, served: Served) => Promise<void>,
): Promise<void> {
  return captureLogs(["fw", "oauth2"], async (records) => {
    await using app = await FwFactory.create(module({ controllers: [ProbeController] }));
    setUp(app);
    const server = await app.listen(0, { hostname: "127.0.0.1" });
    await body((request, headers) => ask(server, request, headers), { server, records });
  });
}

async function ask(server: HttpServer, request: string, headers: Headers = {}): Promise<Answer> {
  using client = await RawClient.connect(server);
  const isUpgrade = "Upgrade" in headers;
  client.send([
    `${request} HTTP/1.1`,
    `Host: ${new URL(server.url).host}`,
    `Connection: ${isUpgrade ? "Upgrade" : "close"}`,
    ...request.startsWith("POST") ? ["Content-Length: 0"] : [],
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]);
  const [head = ""] = await client.until(/^[^]*?\r\n\r\n/);
  const body = isUpgrade ? "" : (await client.end()).slice(head.length);
  const challenge = /^www-authenticate: (.*)\r$/im.exec(head)?.[1] ?? null;
  return { status: Number(head.split(" ")[1]), challenge, body };
}

const useOAuth2 = (from?: TokenSource) => (app: FwApplication) =>
  app.useOAuth2(verifier, from ? { from } : {});

test("bearer() and scheme() read the token of Authorization, and challenge with their scheme", async () => {
  const INVALID = 'error="invalid_token"';
  const sources = { Bearer: [undefined, bearer()], Token: [scheme("Token")] };
  for (const [name, froms] of Object.entries(sources)) {
    for (const from of froms) {
      await serving(useOAuth2(from), async (ask) => {
        const cases: readonly [string | undefined, number, string | null][] = [
          [undefined, 401, name],
          [`${name} good-tom`, 200, null],
          [`${name.toUpperCase()} good-tom`, 200, null],
          [`${name.toLowerCase()}   good-tom`, 200, null],
          ["Basic good-tom", 401, name],
          [`${name === "Token" ? "Bearer" : "Token"} good-tom`, 401, name],
          [`${name}good-tom`, 401, name],
          [`${name}`, 401, `${name} ${INVALID}`],
          [`${name} bad`, 401, `${name} ${INVALID}`],
          [`${name} good-tom good-tom`, 401, `${name} ${INVALID}`],
          [`${name} good-tom, ${name} good-tom`, 401, `${name} ${INVALID}`],
          [`${name} token="good-tom"`, 401, `${name} ${INVALID}`],
        ];
        for (const [authorization, status, challenge] of cases) {
          const answer = await ask("GET /me", authorization ? { authorization } : {});
          assert.deepEqual([answer.status, answer.challenge], [status, challenge], authorization);
        }
        const { status, challenge } = await ask("GET /admin", {
          authorization: `${name} good-tom`,
        });
        assert.deepEqual([status, challenge], [403, `${name} error="insufficient_scope"`]);
      });
    }
  }
});

test("cookie() reads the token of a cookie, and nothing else", () =>
  serving(useOAuth2(cookie("session")), async (ask) => {
    const CHALLENGE = 'Cookie cookie-name="session"';
    const cases: readonly [Headers, number, string | null][] = [
      [{}, 401, CHALLENGE],
      [{ cookie: "session=good-tom" }, 200, null],
      [{ cookie: "a=1; session=good-tom; b=2" }, 200, null],
      [{ cookie: "session=%67ood-tom" }, 200, null],
      [{ cookie: "session=good-tom", "sec-fetch-site": "cross-site" }, 200, null],
      [{ cookie: "session=" }, 401, CHALLENGE],
      [{ cookie: "session=bad" }, 401, CHALLENGE],
      [{ cookie: "Session=good-tom" }, 401, CHALLENGE],
      [{ cookie: "xsession=good-tom" }, 401, CHALLENGE],
      [{ cookie: "session=good-eve; session=good-tom" }, 401, CHALLENGE],
      [{ cookie: "session=good-eve;session =good-tom" }, 401, CHALLENGE],
      [{ authorization: "Bearer good-tom" }, 401, CHALLENGE],
      [{ authorization: "Bearer good-eve", cookie: "session=good-tom" }, 200, null],
    ];
    for (const [headers, status, challenge] of cases) {
      const answer = await ask("GET /me", headers);
      const found = [answer.status, answer.challenge];
      assert.deepEqual(found, [status, challenge], JSON.stringify(headers));
      if (status === 200) assert.equal(answer.body, '"tom"');
    }
    const { status, challenge } = await ask("GET /admin", { cookie: "session=good-tom" });
    assert.deepEqual([status, challenge], [403, null]);
  }));

test("cookie() takes a time in proportion to the blanks of a cookie", async () => {
  const source = cookie("session");
  const app = new Hono().get("/", (c) => c.text(source.read(c) ?? "none"));
  // the square of this length would be minutes
  const headers = { cookie: `session=good; a${" \t".repeat(200_000)}b=1` };
  const startedMs = performance.now();
  assert.equal(await (await app.request("/", { headers })).text(), "good");
  assert.ok(performance.now() - startedMs < 10_000);
});

/** Headers of a request beside its cookie, and whether the cookie authenticates it. */
const SITES: readonly [(origin: string) => Headers, boolean][] = [
  [() => ({ "sec-fetch-site": "same-origin" }), true],
  [() => ({ "sec-fetch-site": "same-site" }), true],
  [() => ({ "sec-fetch-site": "none" }), true],
  [() => ({ "sec-fetch-site": "cross-site" }), false],
  [() => ({ "sec-fetch-site": "" }), false],
  [() => ({ "sec-fetch-site": "Same-Origin" }), false],
  [() => ({ "sec-fetch-site": "same-origin, cross-site" }), false],
  [(origin) => ({ "sec-fetch-site": "cross-site", origin }), false],
  [() => ({ "sec-fetch-site": "same-site", origin: "https://shop.example.com" }), true],
  [(origin) => ({ origin }), true],
  [(origin) => ({ origin: origin.replace("http:", "https:") }), true],
  [(origin) => ({ origin: origin.replace("http:", "https:").replace(/:\d+$/, "") }), false],
  [(origin) => ({ origin: `${origin}0` }), false],
  [(origin) => ({ origin: `${origin}/` }), false],
  [() => ({ origin: "https://evil.example" }), false],
  [() => ({ origin: "null" }), false],
  [() => ({ origin: "" }), false],
  [(origin) => ({ referer: `${origin}/page` }), false],
  [() => ({}), false],
];

test("cookie() takes the Origin of a site whose TLS a proxy ends, and no other one for it", async () => {
  const source = cookie("session");
  const app = new Hono().post("/", (c) => c.text(source.read(c) ?? "none"));
  const cases: readonly [url: string, origin: string, isTaken: boolean][] = [
    ["http://shop.example", "https://shop.example", true],
    ["http://shop.example:443", "https://shop.example", true],
    ["http://shop.example:8443", "https://shop.example:8443", true],
    ["https://shop.example", "https://shop.example", true],
    ["https://shop.example", "http://shop.example", false],
    ["http://shop.example", "wss://shop.example", false],
    ["http://shop.example", "https://shop.example:444", false],
    ["http://shop.example:8080", "https://shop.example", false],
    ["http://shop.example", "https://shop.example.evil.example", false],
    ["http://shop.example", "https://www.shop.example", false],
  ];
  for (const [url, origin, isTaken] of cases) {
    const headers = { cookie: "session=good", origin };
    const { status } = await app.request(url, { method: "POST", headers });
    assert.equal(status, isTaken ? 200 : 500, `${origin} for ${url}`); // Hono knows no 403
  }
});

const UPGRADE: Headers = {
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};

test("cookie() authenticates unsafe methods and WebSocket upgrades of same-site requests only", () =>
  serving(useOAuth2(cookie("session")), async (ask, { server: { url } }) => {
    for (const [headersOf, isAccepted] of SITES) {
      const headers = { cookie: "session=good-tom", ...headersOf(new URL(url).origin) };
      const what = JSON.stringify(headers);
      for (const request of ["POST /me", "DELETE /me"]) {
        const { status, challenge, body } = await ask(request, headers);
        assert.deepEqual([status, challenge], [isAccepted ? 200 : 403, null], what);
        const { detail } = isAccepted ? { detail: undefined } : JSON.parse(body);
        const why = "The cookie session authenticates same-site requests only";
        assert.equal(detail, isAccepted ? undefined : why);
      }
      const upgraded = await ask("GET /socket", { ...headers, ...UPGRADE });
      assert.equal(upgraded.status, isAccepted ? 101 : 403, what);
      assert.equal((await ask("GET /me", headers)).status, 200, what);
      assert.equal((await ask("POST /open", headers)).status, 200, what);
      assert.equal((await ask("POST /maybe", headers)).status, isAccepted ? 200 : 403, what);
    }
    const anonymous = await ask("POST /maybe", { "sec-fetch-site": "cross-site" });
    assert.deepEqual([anonymous.status, anonymous.body], [200, '"anonymous"']);
    assert.equal((await ask("POST /me", { "sec-fetch-site": "cross-site" })).status, 401);
  }));

test("cookie() with csrf: false leaves unsafe methods to the application, not WebSocket upgrades", () =>
  serving(useOAuth2(cookie("session", { csrf: false })), async (ask, { server: { url } }) => {
    for (const [headersOf, isAccepted] of SITES) {
      const headers = { cookie: "session=good-tom", ...headersOf(new URL(url).origin) };
      assert.equal((await ask("POST /me", headers)).status, 200);
      const upgraded = await ask("GET /socket", { ...headers, ...UPGRADE });
      assert.equal(upgraded.status, isAccepted ? 101 : 403, JSON.stringify(headers));
    }
  }));

test("a cookie that is not used, and a token that is missing, are logged at debug with the reason", async () => {
  const reasons: unknown[] = [];
  for (const from of [cookie("session"), bearer(), scheme("Token")]) {
    await serving(useOAuth2(from), async (ask, { records }) => {
      await ask("POST /open", { cookie: "session=good-tom" });
      await ask("POST /open");
      reasons.push(...records.map(({ level, properties }) => [level, properties.reason]));
      assert.ok(!JSON.stringify(records.map(({ properties }) => properties)).includes("good-tom"));
    });
  }
  assert.deepEqual(reasons, [
    ["debug", "The cookie session authenticates same-site requests only"],
    ["debug", "the request has no cookie session"],
    ...["Bearer", "Bearer", "Token", "Token"].map((name) => [
      "debug",
      `the request has no credentials of the scheme ${name}`,
    ]),
  ]);
});

test("useAuthn() and useOAuth2() can have different sources; a 401 challenges for both", async () => {
  let nowMs = Date.now();
  const jwt = new JwtService({
    issuer: "https://shop.example.com",
    key: await JwtKey.generate(),
    now: () => nowMs,
  });
  const token = await jwt.sign({ subject: "ann" });
  await serving(
    (app) => app.useAuthn(jwt, { from: cookie("session") }).useOAuth2(verifier),
    async (ask) => {
      const own = { cookie: `session=${token}` };
      const theirs = { authorization: "Bearer good-tom" };
      const sourceOf = async (headers: Headers) => (await ask("GET /either", headers)).body;
      assert.equal(await sourceOf(own), '"authn"');
      assert.equal(await sourceOf(theirs), '"oauth2"');
      assert.equal(await sourceOf({ ...own, ...theirs }), '"authn"');
      const both = 'Cookie cookie-name="session", Bearer';
      assert.equal((await ask("GET /either")).challenge, both);
      const bad = await ask("GET /either", { authorization: "Bearer bad" });
      assert.equal(bad.challenge, `${both} error="invalid_token"`);

      nowMs += 3_600_000; // the cookie's token has expired: another one may still identify the caller
      assert.equal(await sourceOf({ ...own, ...theirs }), '"oauth2"');
      assert.equal((await ask("GET /either", own)).challenge, both);
    },
  );
});

test("scheme() and cookie() refuse names that no request can have", () => {
  for (const name of ["", "To ken", 'a"b', "a=b", "a;b", "a,b", "tökén", "a\n"]) {
    for (const create of [scheme, cookie]) {
      assert.throws(() => create(name), {
        name: "TypeError",
        message: /^Cannot read (authentication scheme|cookie) ".*": it is not a token of RFC 9110$/,
      });
    }
  }
});

test("cookie() refuses options that it does not have, or that are no booleans", () => {
  const cases: readonly [object, string][] = [
    [{ crsf: true }, "crsf is not an option"],
    [{ csrf: null }, "csrf is not a boolean"],
    [{ csrf: 0 }, "csrf is not a boolean"],
  ];
  for (const [options, why] of cases) {
    assert.throws(() => cookie("session", options), {
      name: "TypeError",
      message: `Cannot read the token from a cookie: ${why}`,
    });
  }
  assert.throws(() => cookie(undefined as never), TypeError);
});
