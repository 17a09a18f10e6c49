import assert from "node:assert/strict";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { ValidationConfig } from "../../../src/oauth2/resource_server/validation_config.ts";
import { test } from "../../support/test.ts";

const URL_OF_KEYS = "https://id.example.com/jwks";

test("JwksCache refuses a URL that is neither https nor http to this machine", () => {
  const refused = ["", "x", "/jwks", "id.example.com/jwks", "//id.example.com/jwks", "https://"];
  refused.push("http://id.example.com/jwks", "http://localhost.example.com/", "http://10.0.0.1/");
  refused.push(
    "http://127.0.0.1.example.com/",
    "http://0.0.0.0/",
    "http://[::2]/",
    "ftp://localhost/",
  );
  refused.push("file:///etc/jwks", "data:application/json,{}", "javascript:1", "blob:https://x/y");
  refused.push(
    "https://user@id.example.com/",
    "https://:hush@id.example.com/",
    "https://x/#",
    "ws://x/",
  );
  refused.push("https://id.example.com/jwks#fragment");
  for (const url of [...refused, undefined, null, 1, {}] as string[]) {
    assert.throws(
      () => new JwksCache(url),
      { name: "OAuth2Error", code: "InvalidConfig" },
      `${url}`,
    );
  }
  const accepted = [URL_OF_KEYS, "https://id.example.com:8443/a?b=c", "http://127.0.0.1:8080/jwks"];
  accepted.push(
    "http://localhost/jwks",
    "http://[::1]:8080/",
    "http://127.1.2.3/",
    "HTTPS://ID.EXAMPLE/",
  );
  for (const url of accepted) {
    assert.equal(new JwksCache(url).size, 0);
    assert.equal(new JwksCache(new URL(url)).size, 0);
  }
});

test("JwksCache refuses invalid durations", () => {
  const wrong = [0, -1, 0.5, NaN, Infinity, -Infinity, 2 ** 53, "1000", null, {}, 1n] as number[];
  for (const ms of wrong) {
    const attempts = [
      () => new JwksCache(URL_OF_KEYS, { timeoutMs: ms }),
      () => new JwksCache(URL_OF_KEYS).withRefreshWindow(ms),
      () => new JwksCache(URL_OF_KEYS).withMaxStale(ms),
    ];
    for (const attempt of attempts) assert.throws(attempt, { code: "InvalidConfig" }, String(ms));
  }
});

test("JwtVerifier refuses an invalid number of cached tokens", () => {
  const keys = new JwksCache(URL_OF_KEYS);
  const wrong = [-1, 0.5, NaN, Infinity, 2 ** 53, "10", null, {}, true] as number[];
  for (const cacheTokens of wrong) {
    assert.throws(
      () => new JwtVerifier(keys, new ValidationConfig(), { cacheTokens }),
      { code: "InvalidConfig" },
      String(cacheTokens),
    );
  }
});

test("JwksCache and JwtVerifier refuse unknown options", async () => {
  const keys = new JwksCache(URL_OF_KEYS);
  const config = new ValidationConfig();
  const stale: object = { maxStaleMs: 1 };
  const message = /: maxStaleMs is not an option$/;
  const expected = { name: "OAuth2Error", code: "InvalidConfig", message };
  assert.throws(() => new JwksCache(URL_OF_KEYS, stale), expected);
  assert.throws(() => new JwtVerifier(keys, config, stale), expected);
  await assert.rejects(JwtVerifier.fromUrl(URL_OF_KEYS, config, stale), expected);
  const timeout: object = { timeoutMs: 1 };
  assert.throws(() => new JwtVerifier(keys, config, timeout), { code: "InvalidConfig" });
  const cacheTokens: object = { cacheTokens: 1 };
  assert.throws(() => new JwksCache(URL_OF_KEYS, cacheTokens), { code: "InvalidConfig" });
});
