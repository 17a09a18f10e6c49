import assert from "node:assert/strict";
import { controller, FwFactory, inject, type Module, module, route } from "../../mod.ts";
import { OAuth2Client } from "../../src/oauth2/client/client.ts";
import { OAuth2Error } from "../../src/oauth2/ground/errors.ts";
import { JwksCache } from "../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../src/oauth2/resource_server/jwt_verifier.ts";
import { OAuth2Module, type ResourceServerOptions } from "../../src/oauth2/module.ts";
import { ValidationConfig } from "../../src/oauth2/resource_server/validation_config.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { test } from "../support/test.ts";
import { breakOff, hang, JwksServer, redirect, text } from "./resource_server/jwks_server.ts";
import { accepting } from "./resource_server/resource_server.ts";
import { NOW, SigningKey } from "./resource_server/signing_key.ts";
import { clientOf } from "./client/token_server.ts";

const KEY = await SigningKey.generate("ES256");
const client = clientOf("https://id.example.com");

/** A service that injects one thing, in a module that imports some others. */
function injecting<T>(key: new (...args: never[]) => T, imports: readonly Promise<Module>[]) {
  class Service {
    readonly injected = inject(key);
  }
  return { Service, module: module({ name: "Feature", imports, providers: [Service] }) };
}

const resourceServer = (server: JwksServer, options: Partial<ResourceServerOptions> = {}) => ({
  jwksUrl: server.url,
  validation: accepting("ES256"),
  now: () => NOW * 1000,
  ...options,
});

test("OAuth2Module.forRoot() provides the given client", async () => {
  const { Service, module: feature } = injecting(OAuth2Client, [OAuth2Module.forRoot({ client })]);
  await using app = await createTestApplication(feature);
  assert.equal(app.get(Service).injected, client);
  assert.equal(app.get(OAuth2Client), client);
});

test("OAuth2Module.forRoot() provides no verifier without a resource server", async () => {
  for (const key of [JwtVerifier, JwksCache]) {
    const { module: feature } = injecting(key as never, [OAuth2Module.forRoot({ client })]);
    await assert.rejects(
      FwFactory.create(feature),
      new RegExp(`${key.name}: no module provides it`),
    );
  }
});

test("OAuth2Module.forRoot() provides one verifier with its keys to all importing modules", async () => {
  await using server = await JwksServer.start(KEY.jwk);
  const oauth2 = OAuth2Module.forRoot({ client, resourceServer: resourceServer(server) });
  const verifiers = [injecting(JwtVerifier, [oauth2]), injecting(JwtVerifier, [oauth2])];
  const caches = [injecting(JwksCache, [oauth2]), injecting(JwksCache, [oauth2])];
  const clients = [injecting(OAuth2Client, [oauth2])];
  const all = [...verifiers, ...caches, ...clients];
  await using app = await createTestApplication(
    module({ name: "App", imports: [oauth2, ...all.map((feature) => feature.module)] }),
  );
  const verifier = app.get(JwtVerifier);
  const keys = app.get(JwksCache);
  for (const { Service } of verifiers) assert.equal(app.get(Service).injected, verifier);
  for (const { Service } of caches) assert.equal(app.get(Service).injected, keys);
  for (const { Service } of clients) assert.equal(app.get(Service).injected, client);
  assert.deepEqual([keys.size, keys.fetchCount, server.requestCount], [1, 1, 1]);
  // they are the keys of the verifier
  const { claims } = await verifier.verify(await KEY.token());
  assert.equal(claims.sub, "ada");
  const next = await SigningKey.generate("ES256");
  server.keys = [next.jwk];
  await keys.refresh();
  await verifier.verify(await next.token());
  assert.equal(server.requestCount, 2);
});

test("OAuth2Module.forRoot() passes options to the cache and the verifier", async () => {
  await using server = await JwksServer.start(KEY.jwk);
  const asked: string[] = [];
  const options = resourceServer(server, {
    fetch: (url, init) => {
      asked.push(String(url));
      return fetch(url, init);
    },
    cacheTokens: 10,
    now: () => (NOW + 10_000) * 1000,
  });
  await using app = await createTestApplication(
    module({ name: "App", imports: [OAuth2Module.forRoot({ client, resourceServer: options })] }),
  );
  assert.deepEqual(asked, [server.url]);
  const verifier = app.get(JwtVerifier);
  await assert.rejects(verifier.verify(await KEY.token()), { code: "InvalidClaim", claim: "exp" });
  const token = await KEY.token({ exp: NOW + 20_000 });
  assert.equal((await verifier.verify(token)).claims, (await verifier.verify(token)).claims);
});

test("OAuth2Module.forRoot() lets an application guard its routes", async () => {
  await using server = await JwksServer.start(KEY.jwk);
  class MeController extends controller() {
    me = route.get("/me", () => "in");
  }
  const oauth2 = OAuth2Module.forRoot({ client, resourceServer: resourceServer(server) });
  await using app = await createTestApplication(
    module({ name: "App", imports: [oauth2], controllers: [MeController] }),
    { setUp: (app) => app.useOAuth2(app.get(JwtVerifier), { require: true }) },
  );
  assert.equal((await app.request("/me")).status, 401);
  const headers = { authorization: `Bearer ${await KEY.token()}` };
  assert.equal((await app.request("/me", { headers })).status, 200);
});

test("OAuth2Module.forRoot() prevents a start without keys", async () => {
  const replies = {
    "500": text("", { status: 500 }),
    "HTML": text("<h1>Hello</h1>"),
    "a redirect": redirect("https://evil.example"),
    "no list": text('{"keys":{}}'),
    "a broken line": breakOff(),
    "nothing": hang(),
  };
  for (const [name, reply] of Object.entries(replies)) {
    await using server = await JwksServer.start(KEY.jwk);
    server.reply = reply;
    const options = resourceServer(server, { timeoutMs: 100 });
    const started = FwFactory.create(
      module({ imports: [OAuth2Module.forRoot({ client, resourceServer: options })] }),
    );
    await assert.rejects(
      started,
      (error) => error instanceof OAuth2Error && error.code === "JwksFetch",
      name,
    );
  }
  const server = await JwksServer.start();
  const options = resourceServer(server);
  await server[Symbol.asyncDispose]();
  const down = OAuth2Module.forRoot({ client, resourceServer: options });
  await assert.rejects(down, { code: "JwksFetch" });
});

test("OAuth2Module.forRoot() refuses invalid options", async () => {
  const validation = new ValidationConfig();
  for (const jwksUrl of ["", "http://id.example.com/jwks", "https://a:b@id.example.com", "/jwks"]) {
    const creation = OAuth2Module.forRoot({ client, resourceServer: { jwksUrl, validation } });
    await assert.rejects(creation, { code: "InvalidConfig" }, jwksUrl);
  }
});

test("OAuth2Module shows nothing to modules that do not import it", async () => {
  await using server = await JwksServer.start(KEY.jwk);
  const oauth2 = OAuth2Module.forRoot({ client, resourceServer: resourceServer(server) });
  for (const key of [OAuth2Client, JwtVerifier, JwksCache]) {
    const { module: feature } = injecting(key as never, []);
    const root = module({ name: "App", imports: [oauth2, feature] });
    await assert.rejects(
      FwFactory.create(root),
      new RegExp(`Service -> ${key.name}: no provider; OAuth2Module has it but Feature does not`),
    );
  }
});

test("two OAuth2Modules provide different clients to the modules that import them", async () => {
  const other = clientOf("https://other.example.com");
  const one = injecting(OAuth2Client, [OAuth2Module.forRoot({ client })]);
  const two = injecting(OAuth2Client, [OAuth2Module.forRoot({ client: other })]);
  await using app = await createTestApplication(
    module({ name: "App", imports: [one.module, two.module] }),
  );
  assert.deepEqual([app.get(one.Service).injected, app.get(two.Service).injected], [client, other]);
});

test("OAuth2Module.forRoot() refuses unknown options, of the resource server too", async () => {
  await using server = await JwksServer.start(KEY.jwk);
  const expected = (name: string) => ({
    name: "OAuth2Error",
    code: "InvalidConfig",
    message: new RegExp(`: ${name} is not an option$`),
  });
  const misspelt: object = { resourceSever: resourceServer(server) };
  await assert.rejects(OAuth2Module.forRoot({ client, ...misspelt }), expected("resourceSever"));
  const audience: object = { audience: "orders" };
  const options = resourceServer(server, audience);
  await assert.rejects(OAuth2Module.forRoot({ resourceServer: options }), expected("audience"));
  assert.equal(server.requestCount, 0);
});
