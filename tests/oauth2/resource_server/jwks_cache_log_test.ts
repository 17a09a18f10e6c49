import assert from "node:assert/strict";
import { inspect } from "node:util";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";
import { breakOff, hang, JwksServer, text } from "./jwks_server.ts";
import { outcomeOf } from "./outcome.ts";
import { verifierBy } from "./skipped_keys.ts";
import { SigningKey } from "./signing_key.ts";

const key = await SigningKey.generate("ES256", { kid: "known" });
const other = await SigningKey.generate("ES256", { kid: "other" });

test("JwksCache logs each fetch: the number of keys, or the reason of the failure", async () => {
  await using server = await JwksServer.start(key.jwk, null, other.jwk);
  await captureLogs(["fw", "oauth2"], async (records) => {
    const cache = new JwksCache(server.url);
    await cache.refresh();
    server.reply = text("", { status: 503 });
    await cache.refresh().catch(() => {});
    server.reply = text('{"keys":[]}');
    await cache.refresh().catch(() => {});
    assert.deepEqual(
      records.map(({ category, level, message, properties }) => ({
        category,
        level,
        message: message.join(""),
        properties,
      })),
      [
        {
          category: ["fw", "oauth2", "jwks"],
          level: "debug",
          message: `Fetched 2 keys of ${server.url}`,
          properties: { url: server.url, keys: 2 },
        },
        {
          category: ["fw", "oauth2", "jwks"],
          level: "warning",
          message: `Cannot fetch the keys of ${server.url}: the answer is 503`,
          properties: { url: server.url, reason: "the answer is 503" },
        },
        {
          category: ["fw", "oauth2", "jwks"],
          level: "warning",
          message:
            `Cannot fetch the keys of ${server.url}: it has no key that can verify signatures`,
          properties: { url: server.url, reason: "it has no key that can verify signatures" },
        },
      ],
    );
  });
});

test("JwksCache and JwtVerifier show no token and no query, in logs, errors and inspections", async () => {
  const server = await JwksServer.start(key.jwk);
  const token = await key.token({ sub: "hush-subject" });
  const forged = await key.forgeWith({ kid: "hush-kid" }, { sub: "hush-claim" });
  const shown: unknown[] = [];
  await captureLogs(["fw", "oauth2"], async (records) => {
    const url = `${server.url}?api_key=hush-query`;
    const tryAll = async () => {
      const cache = new JwksCache(url, { timeoutMs: 200 });
      const verifier = verifierBy(cache).cachingByDefault(10);
      for (const each of [token, forged, `${token}x`, `hush-text.${token}`]) {
        await verifier.verify(each).catch((error) => shown.push(error));
      }
      shown.push(cache, verifier);
    };
    await tryAll();
    for (const reply of [text('{"hush-body'), text("", { status: 500 }), breakOff(), hang()]) {
      server.reply = reply;
      await tryAll();
    }
    await server[Symbol.asyncDispose]();
    await tryAll();
    const odd = new JwksCache("https://id.example.com/?api_key=hush-query", {
      fetch: (url) => Promise.reject(new TypeError(`cannot reach ${url}`)),
    });
    await odd.refresh().catch((error) => shown.push(error));
    shown.push(...records);
  });
  assert(shown.length > 20);
  for (const each of shown) {
    const forms = [inspect(each, { depth: Infinity, showHidden: true }), String(each)];
    forms.push(JSON.stringify(each), JSON.stringify({ ...each as object }));
    if ("Deno" in globalThis) forms.push(Deno.inspect(each, { depth: 100, showHidden: true }));
    for (const form of forms) {
      assert(!form.includes("hush"), form);
      for (const part of token.split(".")) assert(!form.includes(part), form);
    }
  }
});

test("JwksCache has the error of the platform as cause, if there is one", async () => {
  await using server = await JwksServer.start();
  const cause = new TypeError("unreachable");
  const causeOf = (cache: JwksCache) =>
    cache.refresh().then(() => "none", (error: Error) => error.cause);
  const fetch = () => Promise.reject(cause);
  assert.equal(await causeOf(new JwksCache("https://id.example.com/", { fetch })), cause);
  for (const reply of [text("", { status: 500 }), text("x"), text("{}"), hang()]) {
    server.reply = reply;
    assert.equal(await causeOf(new JwksCache(server.url, { timeoutMs: 100 })), undefined);
  }
});

test("JwksCache works silently if the application does not configure logging", async () => {
  await using server = await JwksServer.start(key.jwk);
  const verifier = verifierBy(new JwksCache(server.url));
  assert.equal(await outcomeOf(verifier.verify(await key.token())), "accepted");
});
