import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { etag } from "hono/etag";
import { secureHeaders } from "hono/secure-headers";
import assert from "node:assert/strict";
import * as v from "valibot";
import { parse } from "yaml";
import { type AnySchema, type FwApplication, type OpenApiOptions, route } from "../../mod.ts";
import { openApiPaths } from "../../src/openapi/endpoints.ts";
import { resolveOptions } from "../../src/openapi/options.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";
import { applicationOf, controllerOf, type DescribeOptions, overSocket } from "./described.ts";

const controller = controllerOf({
  list: route.get("/things", () => []),
  create: route.post("/things", { body: v.object({ name: v.string() }) }, () => 1),
});

const serving = (options?: DescribeOptions) => applicationOf(controller, options);

/** The endpoints by default. */
const PATHS = ["/openapi.json", "/openapi.yaml", "/docs", "/docs/oauth2-redirect"];

const statusOf = async (app: FwApplication, path: string, method = "GET") => {
  const { status, body } = await app.request(path, { method });
  await body?.cancel();
  return status;
};

test("Built-in endpoints: GET json_path is the document as JSON", async () => {
  const app = await serving();
  const response = await app.request("/openapi.json");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  const document = await response.json();
  assert.equal(document.openapi, "3.1.1");
  assert.deepEqual(document, JSON.parse(JSON.stringify(await app.openApi())));
});

test("Served: the YAML sibling of json_path is the same document (RFC 9512)", async () => {
  const app = await serving({ openApi: { info: { description: "yes\nno: '#1'\n---\n- ünï" } } });
  const response = await app.request("/openapi.yaml");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/yaml");
  const text = await response.text();
  assert.ok(text.startsWith("openapi: 3.1.1\n"), text.slice(0, 40));
  assert.doesNotMatch(text, /^\s*(- )?[*&]\w|: [*&]\w/m, "it has neither anchors nor aliases");
  assert.deepEqual(parse(text), await (await app.request("/openapi.json")).json());
});

test("Built-in endpoints: GET docs_path is an HTML page", async () => {
  const app = await serving({ openApi: { title: "Things & <more>" } });
  for (const path of ["/docs", "/docs/oauth2-redirect"]) {
    const response = await app.request(path);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
    const html = await response.text();
    assert.match(html, /^<!DOCTYPE html>/);
    assert.match(html, /<title>[^<]*Things &#38; &#60;more&#62;<\/title>/);
  }
});

test("Built-in endpoints: assets, docsUi, docsSignIn and servers shape the page", async () => {
  const htmlWith = async (openApi: OpenApiOptions) => {
    const response = await (await serving({ openApi })).request("/docs");
    const policy = response.headers.get("content-security-policy") ?? "";
    return { html: await response.text(), policy };
  };
  const plain = await htmlWith({});
  assert.match(
    plain.html,
    /src="https:\/\/cdn\.jsdelivr\.net\/npm\/swagger-ui-dist@[\d.]+\/[^"]+" integrity="sha384-/,
  );
  assert.match(plain.policy, /connect-src 'self'(;|$)/);
  const scalar = await htmlWith({ docsUi: "scalar" });
  assert.match(scalar.html, /src="https:\/\/cdn\.jsdelivr\.net\/npm\/@scalar\/api-reference@/);
  const hosted = await htmlWith({ assets: "/assets/ui" });
  assert.match(hosted.html, / src="\/assets\/ui\/swagger-ui-bundle\.js"/);
  assert.doesNotMatch(hosted.html, /cdn\./);
  const signedIn = await htmlWith({
    docsSignIn: { clientId: "docs-client", scopes: ["openid"] },
    servers: [{ url: "https://api.example.com/v1" }, { url: "/here" }],
    components: {
      securitySchemes: {
        provider: {
          type: "oauth2",
          flows: {
            authorizationCode: {
              authorizationUrl: "https://login.example.com/authorize",
              tokenUrl: "https://token.example.com/token",
              refreshUrl: "https://refresh.example.com/token",
              scopes: {},
            },
          },
        },
        openId: {
          type: "openIdConnect",
          openIdConnectUrl: "https://openid.example.com/.well-known",
        },
        bearer: { type: "http", scheme: "bearer" },
      },
    },
  });
  assert.match(signedIn.html, /"clientId":"docs-client","scopes":\["openid"\]/);
  const [, sources = ""] = /connect-src ([^;]*)/.exec(signedIn.policy) ?? [];
  assert.deepEqual(sources.split(" ").toSorted(), [
    "'self'",
    "https://api.example.com",
    "https://openid.example.com",
    "https://refresh.example.com",
    "https://token.example.com",
  ]);
});

test("Built-in endpoints: they are no operations of the document", async () => {
  const app = await serving({
    setUp: (app) => app.enableHealthCheck().enableMetrics().setGlobalPrefix("api"),
  });
  assert.deepEqual(Object.keys((await app.openApi()).paths), ["/api/things"]);
});

test("Built-in endpoints: they are outside of global prefix, version, guards and identity", async () => {
  const app = await serving({
    setUp: (app) =>
      app
        .setGlobalPrefix("api")
        .enableUriVersioning({ defaultVersion: "v1" })
        .useGlobalGuards(() => false)
        .useOAuth2({ verify: () => Promise.reject(new Error("not asked")) }, { require: true }),
  });
  for (const path of PATHS) {
    assert.equal(await statusOf(app, path), 200, path);
    assert.equal(await statusOf(app, `/api${path}`), 404, `/api${path}`);
    assert.equal(await statusOf(app, `/api/v1${path}`), 404, `/api/v1${path}`);
  }
  assert.equal(await statusOf(app, "/api/v1/things"), 401);
});

test("Built-in endpoints: they are not rate limited", async () => {
  const app = await serving({ setUp: (app) => app.useRateLimit({ max: 1 }) });
  const env = { remoteAddr: { hostname: "192.0.2.1" } };
  const status = async (path: string) => (await app.request(path, { env })).status;
  for (let i = 0; i < 3; i++) {
    for (const path of PATHS) assert.equal(await status(path), 200, path);
  }
  assert.deepEqual([await status("/things"), await status("/things")], [200, 429]);
  for (const path of PATHS) assert.equal(await status(path), 200, path);
});

test("Built-in endpoints: they carry x-request-id", async () => {
  const app = await serving({ setUp: (app) => app.useRequestId() });
  for (const path of [...PATHS, "/docs/none"]) {
    const { headers } = await app.request(path, { headers: { "x-request-id": "id-1" } });
    assert.equal(headers.get("x-request-id"), "id-1", path);
  }
});

test("Built-in endpoints: a trailing slash and a query make no difference", async () => {
  const app = await serving();
  for (const path of PATHS) {
    for (const each of [`${path}/`, `${path}?a=b`, `${path}/?code=1`]) {
      assert.equal(await statusOf(app, each), 200, each);
    }
  }
});

test("Built-in endpoints: they answer GET and HEAD, and list them in Allow", async () => {
  const app = await serving();
  for (const path of PATHS) {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const response = await app.request(path, { method });
      assert.deepEqual([response.status, response.headers.get("allow")], [
        405,
        "GET, HEAD, OPTIONS",
      ]);
      assert.equal(response.headers.get("content-type"), "application/problem+json");
    }
    const options = await app.request(path, { method: "OPTIONS" });
    assert.deepEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
  }
});

test("Built-in endpoints: a path below them is a problem 404", async () => {
  const app = await serving();
  for (const path of ["/docs/x", "/docs/oauth2-redirect/x", "/openapi.json/x", "/openapi"]) {
    const response = await app.request(path);
    assert.equal(response.status, 404, path);
    assert.equal(response.headers.get("content-type"), "application/problem+json");
    assert.equal(response.headers.has("content-security-policy"), false);
    assert.equal((await response.json()).instance, path);
  }
});

test("Built-in endpoints: they go before routes whose parameters would take their paths", async () => {
  const app = await applicationOf(controllerOf({
    page: route.get("/:page", ({ params }) => params.page),
    below: route.get("/docs/:page", ({ params }) => params.page),
    rest: route.get("/*", () => "rest"),
  }));
  for (const path of PATHS) {
    const { headers } = await app.request(path);
    assert.doesNotMatch(await (await app.request(path)).text(), /^"/, path);
    assert.ok(headers.has("etag") || headers.has("content-security-policy"), path);
  }
  assert.equal(await (await app.request("/other")).json(), "other");
  assert.equal(await (await app.request("/docs/other")).json(), "other");
  assert.equal((await app.request("/docs/other")).headers.has("content-security-policy"), false);
});

test("Served: docsPath false is no page", async () => {
  const app = await serving({ openApi: { docsPath: false } });
  const statuses = PATHS.map((path) => statusOf(app, path));
  assert.deepEqual(await Promise.all(statuses), [200, 200, 404, 404]);
});

for (
  const [jsonPath, docsPath, paths] of [
    ["/openapi.json", "/docs", {
      json: "/openapi.json",
      yaml: "/openapi.yaml",
      docs: "/docs",
      signIn: "/docs/oauth2-redirect",
    }],
    ["spec/v1.json/", "spec/", {
      json: "/spec/v1.json",
      yaml: "/spec/v1.yaml",
      docs: "/spec",
      signIn: "/spec/oauth2-redirect",
    }],
    ["/openapi", "/", {
      json: "/openapi",
      yaml: "/openapi.yaml",
      docs: "/",
      signIn: "/oauth2-redirect",
    }],
    ["/api.JSON", "/a/b/c", {
      json: "/api.JSON",
      yaml: "/api.JSON.yaml",
      docs: "/a/b/c",
      signIn: "/a/b/c/oauth2-redirect",
    }],
    ["/a.json.json", "/docs.json", {
      json: "/a.json.json",
      yaml: "/a.json.yaml",
      docs: "/docs.json",
      signIn: "/docs.json/oauth2-redirect",
    }],
    ["/a.json/b", "/docs", {
      json: "/a.json/b",
      yaml: "/a.json/b.yaml",
      docs: "/docs",
      signIn: "/docs/oauth2-redirect",
    }],
    ["/.json", "/docs", {
      json: "/.json",
      yaml: "/.yaml",
      docs: "/docs",
      signIn: "/docs/oauth2-redirect",
    }],
    ["/", "/docs", { json: "/", yaml: "/.yaml", docs: "/docs", signIn: "/docs/oauth2-redirect" }],
    ["/openapi.json", false, {
      json: "/openapi.json",
      yaml: "/openapi.yaml",
      docs: undefined,
      signIn: undefined,
    }],
  ] as const
) {
  test(`OpenApiOptions: json_path ${jsonPath} and docs_path ${docsPath} are where they are served`, async () => {
    assert.deepEqual(openApiPaths(resolveOptions({ jsonPath, docsPath })), paths);
    const app = await serving({ openApi: { jsonPath, docsPath } });
    const types = {
      json: "application/json",
      yaml: "application/yaml",
      docs: "text/html; charset=utf-8",
    };
    for (const [key, path] of Object.entries({ ...types, signIn: types.docs })) {
      const at = paths[key as keyof typeof paths];
      if (at === undefined) continue;
      const response = await app.request(at);
      await response.body?.cancel();
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, path], at);
    }
  });
}

for (
  const [jsonPath, docsPath] of [
    ["/openapi.json", "/docs"],
    ["/openapi.json", "/"],
    ["/openapi.json", "/internal/docs"],
    ["/spec/v1/openapi.json", "/docs"],
    ["/spec/v1/openapi.json", "/spec/docs/here"],
    ["/", "/docs"],
  ] as const
) {
  for (const slash of ["", "/"]) {
    if (docsPath === "/" && slash) continue;
    const asked = docsPath + slash;
    test(`Served: the page at ${asked} finds ${jsonPath} and its sign-in below another path`, async () => {
      const app = await serving({ openApi: { jsonPath, docsPath } });
      const html = await (await app.request(asked)).text();
      const [, jsonUrl = ""] = /"jsonUrl":"([^"]*)"/.exec(html) ?? [];
      const [, redirectUrl = ""] = /"redirectUrl":"([^"]*)"/.exec(html) ?? [];
      const signIn = openApiPaths(resolveOptions({ jsonPath, docsPath })).signIn;
      for (const base of ["https://example.com", "https://example.com/behind/a/proxy"]) {
        assert.equal(new URL(jsonUrl, base + asked).href, base + jsonPath);
        assert.equal(new URL(redirectUrl, base + asked).href, base + signIn);
      }
    });
  }
}

test("Served: the document has a strong ETag, by its content and its format", async () => {
  const etagOf = async (path: string, openApi: OpenApiOptions = {}) =>
    (await (await serving({ openApi })).request(path)).headers.get("etag") ?? "";
  const [json, yaml] = [await etagOf("/openapi.json"), await etagOf("/openapi.yaml")];
  for (const each of [json, yaml]) assert.match(each, /^"[\x21\x23-\x7e]+"$/); // RFC 9110 §8.8.3
  assert.notEqual(json, yaml);
  assert.equal(await etagOf("/openapi.json"), json, "another application of the same routes");
  assert.notEqual(await etagOf("/openapi.json", { version: "2" }), json);
  const app = await serving();
  const { headers } = await app.request("/openapi.json");
  assert.equal(headers.get("cache-control"), "no-cache");
});

for (const path of ["/openapi.json", "/openapi.yaml"]) {
  test(`Served: 304 to who has ${path} already (RFC 9110 §13.1.2)`, async () => {
    const app = await serving();
    const whole = await app.request(path);
    const tag = whole.headers.get("etag") ?? "";
    const length = (await whole.arrayBuffer()).byteLength;
    const ask = (value: string, method: string) =>
      app.request(path, { method, headers: { "if-none-match": value } });
    for (
      const known of [
        tag,
        `W/${tag}`,
        "*",
        `"other", ${tag}`,
        `"other",${tag} , W/"third"`,
        `"a, b", W/"c", W/${tag}`,
      ]
    ) {
      for (const method of ["GET", "HEAD"]) {
        const response = await ask(known, method);
        assert.deepEqual(
          [response.status, await response.text(), response.headers.get("etag")],
          [304, "", tag],
          `${method} ${known}`,
        );
        assert.equal(response.headers.get("cache-control"), "no-cache");
      }
    }
    for (
      const other of [
        '"other"',
        tag.slice(1, -1),
        `"${tag.slice(1, -2)}"`,
        "",
        '"*"',
        `"x${tag.slice(1)}`,
      ]
    ) {
      const response = await ask(other, "GET");
      assert.equal(response.status, 200, other);
      assert.equal((await response.arrayBuffer()).byteLength, length);
    }
    assert.equal((await ask(tag, "POST")).status, 405);
  });
}

test("Served: the ETag of one format is not that of the other", async () => {
  const app = await serving();
  const json = (await app.request("/openapi.json")).headers.get("etag") ?? "";
  const response = await app.request("/openapi.yaml", { headers: { "if-none-match": json } });
  assert.equal(response.status, 200);
  await response.body?.cancel();
});

test("Served: 304 is readable by scripts of another origin, as 200 is", async () => {
  const app = await serving({
    setUp: (app) => app.use(cors({ origin: "https://example.com", credentials: true })),
  });
  const headers = { origin: "https://example.com" };
  const whole = await app.request("/openapi.json", { headers });
  const tag = whole.headers.get("etag") ?? "";
  const known = await app.request("/openapi.json", {
    headers: { ...headers, "if-none-match": tag },
  });
  assert.equal(known.status, 304);
  for (const { headers } of [whole, known]) {
    assert.equal(headers.get("access-control-allow-origin"), "https://example.com");
    assert.equal(headers.get("access-control-allow-credentials"), "true");
  }
});

test("Served: the page is never stored, and its nonce is for once", async () => {
  const app = await serving();
  const nonces = new Set<string>();
  for (let i = 0; i < 5; i++) {
    for (const path of ["/docs", "/docs/oauth2-redirect"]) {
      const { headers, html } = await app.request(path).then(async (response) => ({
        headers: response.headers,
        html: await response.text(),
      }));
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.has("etag"), false);
      const policy = headers.get("content-security-policy") ?? "";
      const [, nonce = ""] = /script-src 'nonce-([^']+)'/.exec(policy) ?? [];
      assert.ok(atob(nonce).length >= 16, "at least 128 bits (CSP Level 3)");
      assert.equal(policy.includes("unsafe"), false, policy);
      for (const [, attribute] of html.matchAll(/<(?:script|style)\b[^>]*nonce="([^"]*)"/g)) {
        assert.equal(attribute, nonce);
      }
      assert.equal(html.match(/<script\b/g)?.length, html.match(/<script\b[^>]*nonce="/g)?.length);
      nonces.add(nonce);
    }
  }
  assert.equal(nonces.size, 10);
});

/** Middleware that sets, replaces or takes away what the page needs. */
const MIDDLEWARE: Readonly<Record<string, (app: FwApplication) => unknown>> = {
  "secureHeaders()": (app) => app.use(secureHeaders()),
  "secureHeaders() with a policy": (app) =>
    app.use(secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], scriptSrc: ["'none'"] },
      crossOriginOpenerPolicy: "same-origin",
      referrerPolicy: "unsafe-url",
    })),
  "secureHeaders() for the page's path": (app) => app.use("/docs/*", secureHeaders()),
  "middleware that sets headers after it": (app) =>
    app.use(async (c, next) => {
      await next();
      c.header("content-security-policy", "default-src *");
      c.header("cross-origin-opener-policy", "same-origin");
      c.header("cache-control", "public, max-age=60");
    }),
  "middleware that sets headers before it": (app) =>
    app.use(async (c, next) => {
      c.header("content-security-policy", "default-src *");
      c.header("cross-origin-opener-policy", "same-origin");
      await next();
    }),
  "middleware that takes headers away": (app) =>
    app.use(async (c, next) => {
      await next();
      c.res.headers.delete("content-security-policy");
      c.res.headers.delete("cross-origin-opener-policy");
    }),
  "middleware that replaces the response": (app) =>
    app.use(async (c, next) => {
      await next();
      const text = await c.res.text();
      c.res = undefined;
      c.res = new Response(text, { headers: { "content-type": "text/html; charset=utf-8" } });
    }),
  "etag(), cors() and compress()": (app) => app.use(etag(), cors(), compress()),
  "all that is installed, in any order": (app) =>
    app.use(secureHeaders()).useRateLimit().useRequestId().useRequestTracing().enableMetrics(),
};

for (const [what, setUp] of Object.entries(MIDDLEWARE)) {
  test(`Served: the page's policies survive ${what}`, async () => {
    const app = await serving({ setUp });
    const policiesOf = async (path: string) => {
      const { headers, body } = await app.request(path);
      await body?.cancel();
      const policy = headers.get("content-security-policy") ?? "";
      return {
        csp: policy.replace(/'nonce-[^']+'/g, "'nonce-…'"),
        coop: headers.get("cross-origin-opener-policy"),
        referrer: headers.get("referrer-policy"),
        cache: headers.get("cache-control"),
      };
    };
    const plain = await serving();
    const policiesPlain = async (path: string) => {
      const { headers } = await plain.request(path);
      const policy = headers.get("content-security-policy") ?? "";
      return policy.replace(/'nonce-[^']+'/g, "'nonce-…'");
    };
    for (const path of ["/docs", "/docs/"]) {
      assert.deepEqual(await policiesOf(path), {
        csp: await policiesPlain("/docs"),
        coop: "same-origin-allow-popups",
        referrer: "same-origin",
        cache: "no-store",
      });
    }
    assert.deepEqual(await policiesOf("/docs/oauth2-redirect"), {
      csp: await policiesPlain("/docs/oauth2-redirect"),
      coop: "unsafe-none",
      referrer: "no-referrer",
      cache: "no-store",
    });
  });
}

test("Served: other responses have the headers of middleware", async () => {
  const app = await serving({ setUp: (app) => app.use(secureHeaders()) });
  for (const path of ["/openapi.json", "/openapi.yaml", "/things"]) {
    const { headers, body } = await app.request(path);
    await body?.cancel();
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin", path);
    assert.equal(headers.has("content-security-policy"), false, path);
  }
});

test("Served: HEAD is GET without the content, of the same length (RFC 9110 §8.6)", async () => {
  await overSocket(await serving(), async (get) => {
    for (const path of [...PATHS, "/docs/"]) {
      const [got, head] = [await get(path), await get(path, { method: "HEAD" })];
      const length = (await got.arrayBuffer()).byteLength;
      assert.ok(length > 100);
      assert.equal(head.status, 200, path);
      assert.equal((await head.arrayBuffer()).byteLength, 0);
      assert.equal(got.headers.get("content-length"), String(length), path);
      assert.equal(head.headers.get("content-length"), String(length), path);
      for (const name of ["content-type", "etag", "cache-control"]) {
        assert.equal(head.headers.get(name), got.headers.get(name), `${name} of ${path}`);
      }
    }
    const known = (await get("/openapi.json", { method: "HEAD" })).headers;
    const headers = { "if-none-match": known.get("etag") ?? "" };
    const response = await get("/openapi.json", { headers });
    assert.deepEqual([response.status, await response.text()], [304, ""]);
  });
});

test("Served: the document is created once, at boot", async () => {
  let asked = 0;
  const counted: AnySchema = {
    "~standard": {
      version: 1,
      vendor: "home",
      validate: (value) => ({ value }),
      ...{ jsonSchema: { input: () => (asked++, { type: "string" }), output: () => ({}) } },
    },
  };
  const app = await applicationOf(
    controllerOf({ take: route.post("/", { body: counted }, () => 1) }),
  );
  assert.equal(asked, 0);
  await app.ready();
  assert.equal(asked, 1);
  for (const path of [...PATHS, ...PATHS]) assert.equal(await statusOf(app, path), 200);
  assert.equal(asked, 1);
});

test("Served: nothing is logged of an application whose schemas are all described", async () => {
  await captureLogs(["fw"], async (records) => {
    const app = await serving();
    for (const path of PATHS) assert.equal(await statusOf(app, path), 200);
    assert.deepEqual(records, []);
  });
});

const WARNING = 'The response of GET /tags: JSON Schema cannot represent "set" of valibot, ' +
  'so it is described as "any"';
const PRINTED = `[WRN] fw·openapi: ${WARNING}`;

/** What a process prints that boots an application in some ways, one after the other. */
const BOOTS: Readonly<Record<string, readonly string[]>> = {
  "listen": ["listen", PRINTED, "end"],
  "listen listen": ["listen", PRINTED, "listen", "end"],
  "fetch": ["fetch", PRINTED, "end"],
  "fetch listen": ["fetch", PRINTED, "listen", "end"],
  "ready request": ["ready", "request", "end"],
  "ready listen": ["ready", "listen", PRINTED, "end"],
  "configure listen": ["configure", "listen", `own: ${WARNING}`, "end"],
  "configure ready request listen": [
    "configure",
    "ready",
    `own: ${WARNING}`,
    "request",
    "listen",
    "end",
  ],
};

for (const [ways, expected] of Object.entries(BOOTS)) {
  test(`Boot warnings are printed once, also where LogTape is not configured: ${ways}`, async () => {
    const args = ways.split(" ");
    await using child = new Subprocess("tests/openapi/boot_warnings_fixture.ts", {
      args,
      env: { FW_ENV: "" },
    });
    const { code, output } = await child.ended;
    assert.equal(code, 0, output);
    const lines = output.split("\n").map((line) => line.replace(/^.* (?=\[WRN\])/, ""));
    const known = [...args, "end"];
    const told = lines.filter((line) => known.includes(line) || /WRN|ERR|own:/.test(line));
    assert.deepEqual(told, expected);
  });
}

test("Served: without enableOpenApi there is nothing at their paths", async () => {
  const { FwFactory, module } = await import("../../mod.ts");
  const app = await FwFactory.create(module({ controllers: [controller] }));
  for (const path of PATHS) assert.equal(await statusOf(app, path), 404, path);
});
