/** The documentation page in a real browser, with either user interface, on an API that works. */
import assert from "node:assert/strict";
import type { BrowserContextOptions, Page } from "playwright-core";
import type { DocsUi } from "../../src/openapi/docs/docs_page_options.ts";
import { complaintsOf, SKIP_BROWSER, startBrowser } from "../support/browser.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { testOn } from "../support/test.ts";
import { type OutsideRequests, routeCdn } from "./cdn.ts";
import { authorization, HANDS, logInAlice, popupOf } from "./docs_hands.ts";
import { type DocsSite, type DocsSiteOptions, startDocsSite } from "./docs_site.ts";
import { SUMMARIES } from "./docs_site_document.ts";

// a browser takes its time: on all runtimes, it opens the pages of the examples
const browserTest = testOn(["deno"], "a page is the same whoever serves it");

const UIS: readonly DocsUi[] = ["swagger-ui", "scalar"];

const HOSTILE = "</title></script><!--<script>document.title = 'hacked'</script>\u2028&amp;\"'";

const BACKGROUNDS = [["light", "rgba(0, 0, 0, 0)"], ["dark", "rgb(28, 32, 34)"]] as const;

interface Visit {
  readonly site: DocsSite;
  /** A page that is still empty. */
  readonly page: Page;
  /** The requests of the browser to the internet. */
  readonly outside: OutsideRequests;
  /** What the page complained of. */
  readonly complaints: readonly string[];
}

interface DocsTestOptions {
  readonly site?: DocsSiteOptions;
  readonly browser?: BrowserContextOptions;
  /** Whether the body asserts the reported violations; by default there must be none. */
  readonly complains?: boolean;
  /** By default all of them: the examples have pages too. */
  readonly slow?: boolean;
}

/** Visits a site; nothing that the browser does there may leave this machine, but for the CDN. */
function docsTest(
  name: string,
  {
    site: siteOptions,
    browser: browserOptions,
    complains = false,
    slow = true,
  }: DocsTestOptions,
  body: (visit: Visit) => Promise<void>,
): void {
  browserTest(`docsPage() in a browser ${name}`, () =>
    captureLogs(["fw"], async () => {
      await using site = await startDocsSite(siteOptions);
      await using browser = await startBrowser();
      const context = await browser.newContext(browserOptions);
      const outside = await routeCdn(context);
      const page = await context.newPage();
      page.setDefaultTimeout(120_000);
      const complaints = await complaintsOf(page);
      await body({ site, page, outside, complaints });
      assert.deepEqual(outside.ofOthers, []);
      if (!complains) assert.deepEqual(complaints, []);
    }), { skip: SKIP_BROWSER, slow });
}

/** Waits until an expression is true. The page's policy lets it be evaluated from outside alone. */
async function until(page: Page, expression: string): Promise<void> {
  const end = Date.now() + 120_000;
  while (!await page.evaluate(expression)) {
    assert.ok(Date.now() < end, `never: ${expression}`);
    await page.waitForTimeout(50);
  }
}

for (const ui of UIS) {
  const hands = HANDS[ui];

  docsTest(`shows operations with ${ui}, and sends requests`, {
    site: { ui },
    slow: ui !== "swagger-ui",
  }, async (visit) => {
    const { site, page, outside } = visit;
    await page.goto(`${site.origin}/docs`);
    assert.deepEqual(await hands.operations(page), SUMMARIES);
    assert.equal(await page.title(), "Users API");
    assert.ok(outside.ofCdn.length > 0);

    const answer = await hands.send(page, "Create a user", 201);
    assert.match(await answer.innerText(), /"id": 1,/);
    assert.deepEqual(site.users, [{ name: "Ann", email: "ann@example.com" }]);
  });

  docsTest(`signs in with ${ui}`, { site: { ui } }, async ({ site, page }) => {
    await page.goto(`${site.origin}/docs`);
    const popup = await hands.signIn(page);
    const request = new URL(popup.url()).searchParams;
    const names = ["client_id", "scope", "redirect_uri", "code_challenge_method"];
    assert.deepEqual(
      names.map((name) => request.get(name)),
      ["docs", "openid email", `${site.origin}/docs/signed-in`, "S256"],
    );
    await logInAlice(popup);
    await hands.signedIn(page);
    const answer = await hands.send(page, "Who the caller is", 200);
    assert.match(await answer.innerText(), /"subject": "alice"/);
    const storage = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }])";
    assert.doesNotMatch(await page.evaluate<string>(storage), /eyJ/);
  });

  docsTest(`stays on its origin with ${ui} and assets`, {
    site: { ui, assets: "/files" },
  }, async ({ site, page, outside }) => {
    await page.goto(`${site.origin}/docs`);
    await hands.operations(page);
    await logInAlice(await hands.signIn(page));
    await hands.signedIn(page);
    await hands.send(page, "Who the caller is", 200);
    assert.deepEqual(outside, { ofCdn: [], ofOthers: [] });
  });

  docsTest(`shows pictures and plays sounds with ${ui}`, { site: { ui } }, async (visit) => {
    const { site, page } = visit;
    await page.goto(`${site.origin}/docs`);
    await hands.send(page, "A picture of it", 200);
    await until(page, "document.querySelector('img')?.naturalWidth === 1");

    await page.goto(`${site.origin}/docs?again`);
    await hands.send(page, "A sound of it", 200);
    await until(page, "document.querySelector('audio')?.readyState > 0");
  });

  docsTest(`tells nobody of a document that is not local with ${ui}`, {
    site: { ui },
    browser: { permissions: ["local-network-access"] }, // its identity provider is local
  }, async ({ site, page }) => {
    await page.route("https://api.example.com/**", async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: site.origin + pathname }) });
    });
    await page.goto("https://api.example.com/docs");
    assert.deepEqual(await hands.operations(page), SUMMARIES);
    await page.waitForLoadState("networkidle");
  });

  docsTest(`keeps hostile values text with ${ui}`, {
    site: { ui, title: HOSTILE, signIn: { clientId: HOSTILE, scopes: [HOSTILE] } },
  }, async ({ site, page }) => {
    await page.goto(`${site.origin}/docs`);
    await hands.operations(page);
    assert.equal(await page.title(), HOSTILE);
    const popup = await hands.signIn(page);
    assert.equal(new URL(popup.url()).searchParams.get("client_id"), HOSTILE);
  });

  docsTest(`lets no description run, restyle or load with ${ui}`, {
    complains: true, // of what is forbidden
    site: {
      ui,
      description: `Described <img src="https://evil.example/"> <b onclick="hack()">boldly</b>
        <img src="x" onerror="document.title = 'hacked'"> <script>document.title = "hacked"</script>
        <style>p { display: none !important }</style>`,
    },
  }, async ({ site, page }) => {
    await page.goto(`${site.origin}/docs`);
    await hands.operations(page);
    await page.getByText("Described").waitFor();
    assert.equal(await page.title(), "Users API");
  });

  docsTest(`runs nothing in the place of ${ui}`, {
    complains: true, // of the file's integrity
    site: { ui },
  }, async ({ site, page, complaints }) => {
    await page.context().route("https://cdn.jsdelivr.net/**", (route) =>
      route.fulfill({
        body: "document.title = 'hacked'",
        headers: { "access-control-allow-origin": "*", "content-type": "application/javascript" },
      }));
    await page.goto(`${site.origin}/docs`);
    await page.getByText("The user interface could not be loaded").waitFor();
    assert.equal(await page.title(), "Users API");
    assert.match(complaints.join("\n"), /digest.*integrity/);
    await page.getByRole("link", { name: "OpenAPI document" }).click();
    assert.equal(page.url(), `${site.origin}/openapi.json`);
  });

  docsTest(`calls nobody but whom it may with ${ui}`, {
    complains: true, // of the others
    site: { ui },
  }, async ({ site, page, complaints }) => {
    await page.goto(`${site.origin}/docs`);
    await hands.operations(page);
    const call = (url: string) =>
      page.evaluate<string>(`fetch("${url}").then((it) => String(it.status), String)`);
    assert.equal(await call("/users"), "200");
    assert.equal(await call(`${site.provider.issuer}/.well-known/openid-configuration`), "200");
    assert.equal(complaints.length, 0);
    for (const url of ["https://elsewhere.example/", "http://127.0.0.1:1/"]) {
      assert.match(await call(url), /^TypeError/);
      const complaint = `Connecting to '${url}' violates`;
      assert.ok(complaints.some((each) => each.startsWith(complaint)), complaints.join("\n"));
    }
  });
}

docsTest("shows HTML with scalar", { site: { ui: "scalar" } }, async ({ site, page }) => {
  await page.goto(`${site.origin}/docs`);
  await HANDS.scalar.send(page, "A page about it", 200);
  await page.frameLocator("iframe").getByRole("heading", { name: "All about it" }).waitFor();
});

docsTest(
  "offers nothing that asks the makers of scalar",
  { site: { ui: "scalar" } },
  async (visit) => {
    const { site, page } = visit;
    await page.goto(`${site.origin}/docs`);
    await HANDS.scalar.operations(page);
    await page.waitForLoadState("networkidle");
    const texts =
      "document.body.innerText.match(/Ask AI|MCP|Developer Tools|API Client|Share|Deploy/g)";
    assert.equal(await page.evaluate(texts), null);
    assert.deepEqual(
      await page.evaluate(
        "Array.from(document.querySelectorAll('a[href^=http]'), (it) => it.innerText)",
      ),
      ["Powered by Scalar"],
    );
  },
);

docsTest("signs in by OpenID Connect with swagger-ui", {}, async ({ site, page }) => {
  await page.goto(`${site.origin}/docs`);
  const form = await authorization(page, "openId (OAuth2, authorization_code with PKCE)");
  await logInAlice(await popupOf(page, form.getByRole("button", { name: "Apply given OAuth2" })));
  await HANDS["swagger-ui"].signedIn(page);
  const answer = await HANDS["swagger-ui"].send(page, "Who the caller is", 200);
  assert.match(await answer.innerText(), /"subject": "alice"/);
});

docsTest("sends the tokens and keys that swagger-ui is given", {}, async ({ site, page }) => {
  const { send } = HANDS["swagger-ui"];
  const token = await site.provider.issueToken({ subject: "bob" });
  await page.goto(`${site.origin}/docs`);
  for (
    const [scheme, value] of [["token (http, Bearer)", token], ["key (apiKey)", "k3y"]] as const
  ) {
    const form = await authorization(page, scheme);
    await form.getByRole("textbox").fill(value);
    await form.getByRole("button", { name: "Apply credentials" }).click();
    await page.locator(".close-modal").click();
  }
  assert.match(await (await send(page, "Who the caller is", 200)).innerText(), /"subject": "bob"/);
  assert.match(await (await send(page, "Which key it has", 200)).innerText(), /"key": "k3y"/);
});

for (const [colorScheme, background] of BACKGROUNDS) {
  docsTest(`is ${colorScheme} with swagger-ui where the user's system is`, {
    browser: { colorScheme },
  }, async ({ site, page }) => {
    await page.goto(`${site.origin}/docs`);
    await HANDS["swagger-ui"].operations(page);
    const color = "getComputedStyle(document.documentElement).backgroundColor";
    assert.equal(await page.evaluate(color), background);
  });
}
