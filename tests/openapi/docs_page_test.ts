import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { docsPage, signInRedirectPage } from "../../src/openapi/docs/docs_page.ts";
import type { DocsPageOptions, DocsUi, Page } from "../../src/openapi/docs/docs_page_options.ts";
import { test } from "../support/test.ts";
import { cdnFile } from "./cdn.ts";

const UIS: readonly DocsUi[] = ["swagger-ui", "scalar"];

const OPTIONS: DocsPageOptions = {
  title: "Users API",
  ui: "swagger-ui",
  assets: undefined,
  signIn: undefined,
  connectTo: [],
};

const REQUEST = { nonce: "AbC+/0==", jsonUrl: "./openapi.json", redirectUrl: "./docs/signed-in" };

/** Both pages, of each user interface. */
function pagesOf(options: Partial<DocsPageOptions> = {}): readonly Page[] {
  return UIS.map((ui) => ({ ...OPTIONS, ui, ...options })).flatMap((each) => [
    docsPage(each, REQUEST),
    signInRedirectPage(each, REQUEST),
  ]);
}

function connectSources(...connectTo: readonly string[]): readonly string[] {
  const { headers } = docsPage({ ...OPTIONS, connectTo }, REQUEST);
  const [, sources = ""] = /connect-src ([^;]*)/.exec(headers["content-security-policy"] ?? "") ??
    [];
  return sources.split(" ");
}

/** What the page's script reads. */
function settingsOf({ html }: Page): unknown {
  return JSON.parse(/const settings = (.*);$/m.exec(html)?.[1] ?? "");
}

/** The attributes of the files that a page loads. */
function filesOf({ html }: Page): readonly string[] {
  return [...html.matchAll(/ (?:src|href)="(.*?\.(?:js|css))"(.*?)>/g)].map(([, url, rest]) =>
    url! + rest
  );
}

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};
const CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "script-src 'nonce-AbC+/0=='; style-src 'nonce-AbC+/0=='; img-src";

const EXPECTED_POLICIES: Readonly<Record<DocsUi, string>> = {
  "swagger-ui": `${CLOSED} 'self' data: blob:; connect-src 'self' https://id.example.com; ` +
    "media-src 'self'",
  scalar: `${CLOSED} 'self' data: blob:; connect-src 'self' https://id.example.com; ` +
    "style-src-attr 'unsafe-inline'; media-src blob:; frame-src blob:",
};

for (const ui of UIS) {
  test(`docsPage() sends headers that confine ${ui} to its files and the origins it is given`, () => {
    const connectTo = ["https://id.example.com/token"];
    assert.deepEqual(docsPage({ ...OPTIONS, ui, connectTo }, REQUEST).headers, {
      ...HEADERS,
      "content-security-policy": EXPECTED_POLICIES[ui],
      "cross-origin-opener-policy": "same-origin-allow-popups",
      "referrer-policy": "same-origin",
    });
  });

  test(`signInRedirectPage() of ${ui} keeps its opener, sends its URL nowhere and connects to nothing`, () => {
    assert.deepEqual(signInRedirectPage({ ...OPTIONS, ui }, REQUEST).headers, {
      ...HEADERS,
      "content-security-policy": `${CLOSED} data:`,
      "cross-origin-opener-policy": "unsafe-none",
      "referrer-policy": "no-referrer",
    });
  });
}

test("docsPage() allows calls to the origins of connectTo, each once, and to its own", () => {
  assert.deepEqual(
    connectSources(
      "/v1",
      "v1?x=https://other.example.com",
      "https://API.example.com/v1",
      "https://api.example.com:443/v2?a#b",
      "https://user:secret@id.example.com/token",
      "http://localhost:3000",
      "wss://bücher.example/live",
    ),
    [
      "'self'",
      "https://api.example.com",
      "https://id.example.com",
      "http://localhost:3000",
      "wss://xn--bcher-kva.example",
    ],
  );
});

test("docsPage() allows connections to all values of the variables of a server's URL", () => {
  assert.deepEqual(
    connectSources(
      "https://{tenant}.example.com/v1",
      "https://api-{stage}.{region}.example.org:{port}/{version}",
      "https://example.net/a:{b}",
      "http://127.0.0.1:{port}",
    ),
    [
      "'self'",
      "https://*.example.com",
      "https://*.example.org:*",
      "https://example.net",
      "http://127.0.0.1:*",
    ],
  );
});

test("docsPage() leaves out of its policy what has no origin, or one that a policy cannot name", () => {
  const urls = [
    "",
    "https://{host}/v1",
    "{scheme}://example.com",
    "mailto:somebody@example.com",
    "http://[::1]:3000",
    "https://a.example;script-src",
    "https://a.example,b.example",
    "https://'unsafe-eval'",
  ];
  assert.deepEqual(connectSources(...urls), ["'self'"]);
});

test("docsPage() loads files of one version, which match their integrity", async () => {
  const files = new Set(pagesOf().flatMap(filesOf));
  assert.equal(files.size, 4);
  for (const file of files) {
    const [, url = "", integrity] =
      /^(\S+@\d+\.\d+\.\d+\/\S+) integrity="(\S+)" crossorigin="anonymous"$/.exec(file) ??
        assert.fail(file);
    const digest = createHash("sha384").update(await cdnFile(url)).digest("base64");
    assert.equal(integrity, `sha384-${digest}`, url);
  }
});

test("docsPage() loads self-hosted files without an integrity check", () => {
  for (const assets of ["/files", "/files/"]) {
    assert.deepEqual(pagesOf({ assets }).map(filesOf), [
      ["/files/swagger-ui.css", "/files/swagger-ui-bundle.js"],
      ["/files/oauth2-redirect.js"],
      ["/files/standalone.js"],
      [],
    ]);
  }
  const [page] = pagesOf({ assets: 'https://files.example.com/?a=1&b="><script>' });
  assert.match(
    page?.html ?? "",
    / src="https:\/\/files\.example\.com\/\?a=1&#38;b=&#34;&#62;&#60;script&#62;\//,
  );
});

test("docsPage() keeps values that look like HTML or JavaScript what they are", () => {
  const hostile = `</title></script><!--<script>alert(1)</script>'"&\u2028\u2029`;
  const harmless = pagesOf({ signIn: { clientId: "docs", scopes: ["a"] } });
  const pages = pagesOf({ title: hostile, signIn: { clientId: hostile, scopes: [hostile] } });
  const tags = ({ html }: Page) => html.match(/<[!/\w]+/g);
  assert.deepEqual(pages.map(tags), harmless.map(tags));
  for (const ui of UIS) {
    const signIn = { clientId: hostile, scopes: [hostile] };
    const request = { ...REQUEST, jsonUrl: hostile, redirectUrl: hostile };
    assert.deepEqual(settingsOf(docsPage({ ...OPTIONS, ui, title: hostile, signIn }, request)), {
      title: hostile,
      jsonUrl: hostile,
      redirectUrl: hostile,
      clientId: hostile,
      scopes: [hostile],
    });
  }
});

test("docsPage() sets its nonce on every script and style, and no other", () => {
  for (const { html } of pagesOf()) {
    const own = html.match(/<(?:script|style|link rel="stylesheet")[^>]*/g) ?? [];
    assert.ok(own.length > 0);
    for (const tag of own) assert.match(tag, /^<[^>]* nonce="AbC\+\/0=="/);
    assert.doesNotMatch(html, /<[^>]* (?:on\w+|style)=/);
  }
});

test("docsPage() is in English, fits small screens, and requests no icon", () => {
  for (const { html } of pagesOf()) {
    assert.match(html, /^<!DOCTYPE html>\n<html lang="en">\n/);
    assert.ok(
      html.includes('<meta name="viewport" content="width=device-width, initial-scale=1">'),
    );
    assert.ok(html.includes('<link rel="icon" href="data:,">'));
  }
});

test("docsPage() has a link to the document for who has no JavaScript", () => {
  const request = { ...REQUEST, jsonUrl: "./a&b.json" };
  for (const ui of UIS) {
    const { html } = docsPage({ ...OPTIONS, ui }, request);
    assert.match(
      html,
      /<noscript>[^]*<a href=".\/a&#38;b.json">OpenAPI document<\/a>[^]*<\/noscript>/,
    );
  }
});

test("docsPage() turns off features that the pinned version does not use, but another might", () => {
  const [swaggerUi, scalar] = UIS.map((ui) => docsPage({ ...OPTIONS, ui }, REQUEST).html);
  assert.match(swaggerUi ?? "", /^ *validatorUrl: null,$/m);
  assert.match(scalar ?? "", /^ *telemetry: false,$/m);
});
