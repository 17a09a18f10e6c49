import assert from "node:assert/strict";
import fc from "fast-check";
import { Hono } from "hono";
import { BadRequestException } from "../../../src/core/http/http_exception.ts";
import { returnPath } from "../../../src/oauth2/login/browser.ts";
import { serve } from "../../middleware/serve.ts";
import { test } from "../../support/test.ts";

const REFUSED = "400";

/** Returns the path, or {@linkcode REFUSED}. */
function outcomeOf(path: string): string {
  try {
    return returnPath(path);
  } catch (error) {
    if (error instanceof BadRequestException) return REFUSED;
    throw error;
  }
}

const KEPT: readonly (readonly [path: string, kept: string])[] = [
  ["/", "/"],
  ["/a/b?c=d&e=%2F#f", "/a/b?c=d&e=%2F#f"],
  ["/?", "/"],
  ["/#", "/"],
  ["/a b", "/a%20b"],
  ["/a\\b", "/a/b"],
  ["/ü/🦕?q=ß", "/%C3%BC/%F0%9F%A6%95?q=%C3%9F"],
  ["/\uD800", "/%EF%BF%BD"],
  ["/a\tb\nc\rd", "/abcd"],
  ["/a\0b", "/a%00b"],
  ["/../..", "/"],
  ["/a/../b", "/b"],
  ["/%2e%2e/a", "/a"],
  // of one slash and more that browsers do not decode: paths of this site, odd as they look
  ["/%2f/evil.example", "/%2f/evil.example"],
  ["/%2F%2Fevil.example", "/%2F%2Fevil.example"],
  ["/%5cevil.example", "/%5cevil.example"],
  ["/%09/evil.example", "/%09/evil.example"],
  ["/%0d%0aLocation:%20https://evil.example", "/%0d%0aLocation:%20https://evil.example"],
  ["/\r\nLocation: https://evil.example", "/Location:%20https://evil.example"],
  ["/https://evil.example", "/https://evil.example"],
  ["/javascript:alert(1)", "/javascript:alert(1)"],
  ["/:80", "/:80"],
  ["/@evil.example", "/@evil.example"],
  ["/user:password@evil.example", "/user:password@evil.example"],
  ["/;//evil.example", "/;//evil.example"],
  ["/a//evil.example", "/a//evil.example"],
  ["/?//evil.example", "/?//evil.example"],
  ["/?https://evil.example", "/?https://evil.example"],
  ["/#//evil.example", "/#//evil.example"],
  ["/?\\\\evil.example", "/?\\\\evil.example"],
  ["/\u3000/evil.example", "/%E3%80%80/evil.example"],
  ["/\u2215evil.example", "/%E2%88%95evil.example"],
  ["/\uFF0F/evil.example", "/%EF%BC%8F/evil.example"],
  ["/\u00A0/evil.example", "/%C2%A0/evil.example"],
  ["/.\u2060/evil.example", "/.%E2%81%A0/evil.example"],
  [`/${"a".repeat(2047)}`, `/${"a".repeat(2047)}`],
  ["//site.invalid/a", "/a"], // the name of no site
];

const HOSTILE: readonly string[] = [
  "",
  " ",
  "a",
  "a/b",
  "?a",
  "#a",
  "./a",
  "../a",
  " /a",
  "\t/a",
  "\u00A0/a",
  "\uFEFF/a",
  "\\",
  "\\\\evil.example",
  "\\/evil.example",
  "//",
  "//evil.example",
  "///evil.example",
  "////evil.example",
  "//evil.example:443/a",
  "//user@evil.example",
  "//site.invalid@evil.example",
  "//site.invalid.evil.example",
  "//site.invalid:8443/a",
  "//%65vil.example",
  "//[::1]",
  "//2130706433",
  "//evil。example",
  "/\\evil.example",
  "/\\\\evil.example",
  "/\\/evil.example",
  "/\\/\\/evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "/\r\n/evil.example",
  "/\t\\evil.example",
  "/\n\t\\\r/evil.example",
  "/.//evil.example",
  "/..//evil.example",
  "/./\\evil.example",
  "/..\\/evil.example",
  "/.\\\\evil.example",
  "/.\t//evil.example",
  "/a/..//evil.example",
  "/a/b/../..//evil.example",
  "/%2e//evil.example",
  "/%2e%2e//evil.example",
  "/%2E./\\evil.example",
  "/a/%2e%2e//evil.example",
  "/..///evil.example",
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,evil",
  "vbscript:evil",
  "file:///etc/passwd",
  "blob:https://site.invalid/a",
  "about:blank",
  "mailto:a@evil.example",
  "https://evil.example",
  "https:evil.example",
  "https:/evil.example",
  "https:\\\\evil.example",
  "http://site.invalid",
  "https://site.invalid",
  "https://site.invalid@evil.example/",
  "https://shop.example/",
  "//evil.example\\@site.invalid",
  "//\u0000evil.example",
  `/${"a".repeat(2048)}`,
  `/${"ü".repeat(1000)}`, // sent, it is six times as long
  `/?${"🦕".repeat(500)}`,
];

test("returnPath() keeps paths of this site as browsers understand them", () => {
  assert.deepEqual(KEPT.map(([path]) => [path, outcomeOf(path)]), KEPT);
});

test("returnPath() refuses paths to other sites and invalid paths", () => {
  assert.deepEqual(
    HOSTILE.map((path) => [path, outcomeOf(path)]),
    HOSTILE.map((path) => [path, REFUSED]),
  );
});

test("returnPath() returns paths that stay on any site, and is idempotent", () => {
  const odd = fc.constantFrom(
    ..."/\\.?#@:;%&=\t\n\r \0",
    ..."/%2f,/%5c,%2e,..,//,evil.example,https:,javascript:,ü".split(","),
  );
  const path = fc.oneof(
    fc.array(odd, { maxLength: 12 }).map((parts) => `/${parts.join("")}`),
    fc.string({ unit: "binary", maxLength: 40 }).map((text) => `/${text}`),
    fc.webUrl(),
    fc.string(),
  );
  fc.assert(
    fc.property(path, (path) => {
      const kept = outcomeOf(path);
      if (kept === REFUSED) return;
      assert.match(kept, /^\/(?![/\\])[\x21-\x7E]*$/);
      assert(kept.length <= 2048);
      for (const site of ["https://site.example", "http://127.0.0.1:8080"]) {
        for (const page of ["/auth/callback?code=a", "//", "/a/b/"]) {
          assert.equal(new URL(kept, site + page).origin, site);
        }
      }
      assert.equal(returnPath(kept), kept);
    }),
    { numRuns: 3000 },
  );
}, { slow: true });

test("returnPath() returns paths that a Location keeps on the site", async () => {
  const app = new Hono()
    .get("/auth/callback", (c) => c.redirect(outcomeOf(c.req.query("to") ?? ""), 303))
    .get("*", (c) => c.text(new URL(c.req.url).pathname));
  const server = await serve(app);
  const site = `http://127.0.0.1:${server.port}`;
  try {
    for (const [path, kept] of KEPT) {
      const callback = `${site}/auth/callback?to=${encodeURIComponent(path.toWellFormed())}`;
      // by hand: Bun treats a path that contains "://" as a URL of another site
      const redirect = await fetch(callback, { redirect: "manual" });
      await redirect.body?.cancel();
      const target = new URL(redirect.headers.get("location") ?? "", callback);
      assert.equal(target.origin, site);
      const page = await fetch(target);
      assert.equal(await page.text(), new URL(kept, site).pathname);
    }
  } finally {
    await server.close();
  }
});
