/** The login of the OAuth2 example, and one by `form_post`, in a browser. */
import assert from "node:assert/strict";
import type { BrowserContext, Page, Response as Answer } from "playwright-core";
import { controller, FwFactory, module, route } from "../../mod.ts";
import { OAuth2Client, OAuth2Login, OAuth2Options } from "../../src/oauth2/mod.ts";
import { DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { complaintsOf, SKIP_BROWSER, startBrowser } from "../support/browser.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { freePort } from "../support/free_port.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test, testOnce } from "../support/test.ts";

interface Visit {
  /** The origin of the application. */
  readonly origin: string;
  /** Opens a page of a browser without state. */
  newcomer(): Promise<Page>;
}

/**
 * Runs the example with the port as its only variable; slow but for the first login, and on one
 * runtime by default.
 */
function exampleTest(
  name: string,
  body: (visit: Visit) => Promise<void>,
  { slow = true, register = testOnce } = {},
): void {
  register(`the OAuth2 example in a browser ${name}`, async () => {
    const port = await freePort(2);
    await using example = new Subprocess("examples/oauth2.ts", { env: { PORT: String(port) } });
    await using browser = await startBrowser();
    await example.until(/\/admin -H .+$/m);
    const newcomer = async () => await (await browser.newContext()).newPage();
    await body({ origin: `http://localhost:${port}`, newcomer });
  }, { skip: SKIP_BROWSER, slow });
}

/** Presses a button; returns the response of the page after all redirects. */
async function press(page: Page, name: RegExp): Promise<Answer> {
  const answer = page.waitForResponse((response) => !isRedirect(response) && !isIcon(response));
  await page.getByRole("button", { name }).click();
  await page.waitForURL((await answer).url());
  return await answer;
}

const isRedirect = (answer: Answer) => answer.status() >= 300 && answer.status() < 400;
const isIcon = (answer: Answer) => answer.url().endsWith("/favicon.ico");

async function open(page: Page, url: string): Promise<Answer> {
  return await page.goto(url) ?? assert.fail(`There is no answer from ${url}`);
}

/** Logs in; returns the URL of the callback, to which the browser is not redirected. */
async function interceptCallback(page: Page, origin: string): Promise<string> {
  await open(page, `${origin}/auth/login`);
  let callback = "";
  await page.route("**/login", async (route) => {
    const answer = await route.fetch({ maxRedirects: 0 });
    callback = answer.headers().location ?? "";
    await route.fulfill({ body: "kept" });
  });
  await press(page, /Alice/);
  await page.unrouteAll();
  return callback;
}

async function cookieOf(context: BrowserContext) {
  const [cookie, ...others] = await context.cookies();
  assert.ok(cookie && others.length === 0, "there is not exactly one cookie");
  const { name, httpOnly, sameSite, secure, path, domain } = cookie;
  return { name, httpOnly, sameSite, secure, path, domain };
}

exampleTest("logs in with a click on a name", async ({ origin, newcomer }) => {
  const page = await newcomer();
  const complaints = await complaintsOf(page);
  const login = await open(page, `${origin}/auth/login?return_to=/cart`);
  assert.equal(login.status(), 200);
  assert.notEqual(new URL(page.url()).origin, origin);
  assert.ok(await page.getByText("Development identity provider: not for production").isVisible());
  assert.equal(await page.getByRole("heading").innerText(), "Log in to example");
  assert.deepEqual(
    (await page.getByRole("button").allInnerTexts()).map((text) => text.split("\n")[0]),
    ["Alice", "Bob", "Refuse"],
  );

  const answer = await press(page, /Alice/);
  assert.equal(answer.status(), 200);
  await page.waitForURL(`${origin}/auth/callback?*`);
  const { expiresAt, ...session } = await answer.json();
  assert.deepEqual(session, { subject: "alice", scope: "openid email", returnTo: "/cart" });
  assert.ok(Date.parse(expiresAt) > Date.now());
  assert.doesNotMatch(await page.content(), /eyJ|token/);
  assert.deepEqual(complaints, []);
}, { slow: false, register: test });

exampleTest("logs in with only the keyboard", async ({ origin, newcomer }) => {
  const page = await newcomer();
  await open(page, `${origin}/auth/login`);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  const answer = page.waitForResponse(/\/auth\/callback\?/);
  await page.keyboard.press("Enter");
  assert.equal((await (await answer).json()).subject, "bob");
});

exampleTest("responds 401 to a user who refuses", async ({ origin, newcomer }) => {
  const page = await newcomer();
  await open(page, `${origin}/auth/login`);
  const answer = await press(page, /Refuse/);
  assert.equal(answer.status(), 401);
  assert.match((await answer.json()).detail, /access_denied/);
});

exampleTest(
  "responds 401 to a callback that is reloaded or reached with the back button",
  async (visit) => {
    const { origin, newcomer } = visit;
    const page = await newcomer();
    await open(page, `${origin}/auth/login`);
    assert.equal((await press(page, /Alice/)).status(), 200);
    assert.equal((await page.reload())?.status(), 401);
    // the previous page is the provider's: its button submits the same request again
    await page.goBack();
    assert.equal((await press(page, /Alice/)).status(), 401);
    assert.equal((await open(page, `${origin}/auth/login`)).status(), 200);
    assert.equal((await press(page, /Alice/)).status(), 200);
  },
);

exampleTest(
  "responds 401 to the callback of another browser, which does not use it up",
  async ({ origin, newcomer }) => {
    const alice = await newcomer();
    const mallory = await newcomer();
    const callbacks = [
      await interceptCallback(alice, origin),
      await interceptCallback(alice, origin),
    ];
    assert.match(callbacks[0]!, /[?&]code=/);
    assert.equal((await open(mallory, callbacks[0]!)).status(), 401);
    await open(mallory, `${origin}/auth/login`); // with another cookie
    assert.equal((await open(mallory, callbacks[1]!)).status(), 401);
    assert.equal((await open(alice, callbacks[1]!)).status(), 200);
    assert.equal((await open(alice, callbacks[1]!)).status(), 401);
  },
);

exampleTest("sets a cookie that scripts and other sites cannot read", async (visit) => {
  const { origin, newcomer } = visit;
  const page = await newcomer();
  await open(page, `${origin}/auth/login`);
  assert.deepEqual(await cookieOf(page.context()), {
    name: "fw-login",
    httpOnly: true,
    sameSite: "Lax",
    secure: false, // the example uses http
    path: "/",
    domain: "localhost",
  });
  await open(page, `${origin}/health`);
  assert.equal(await page.evaluate("document.cookie"), "");
}, { register: test });

exampleTest("has a login page that fits small screens", async ({ origin, newcomer }) => {
  const page = await newcomer();
  await page.setViewportSize({ width: 320, height: 480 });
  await open(page, `${origin}/auth/login`);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
});

test(
  "OAuth2Login in a browser accepts a form posted by another site",
  () =>
    captureLogs(["fw"], async () => {
      const port = await freePort();
      const origin = `http://localhost:${port}`;
      const redirectUri = `${origin}/callback`;
      // to a browser, this and localhost are different sites
      await using provider = await DevelopmentIdentityProvider.start({
        clients: [{ clientId: "shop", clientSecret: "s3cret", redirectUris: [redirectUri] }],
      });
      const client = new OAuth2Client(
        await OAuth2Options.discover(provider.issuer, {
          clientId: "shop",
          clientSecret: "s3cret",
          redirectUri,
        }),
      );
      const login = new OAuth2Login(client, {
        scopes: ["openid"],
        extra: { response_mode: "form_post" },
      });
      class AuthController extends controller() {
        login = route.get("/login", (_, c) => login.begin(c));
        callback = route.post("/callback", async (_, c) => (await login.finish(c)).claims?.sub);
      }
      await using app = await FwFactory.create(module({ controllers: [AuthController] }));
      await app.listen(port);
      await using browser = await startBrowser();
      const page = await (await browser.newContext()).newPage();
      const complaints = await complaintsOf(page);

      await open(page, `${origin}/login`);
      const { httpOnly, sameSite, secure } = await cookieOf(page.context());
      assert.deepEqual({ httpOnly, sameSite, secure }, {
        httpOnly: true,
        sameSite: "None",
        secure: true,
      });
      await press(page, /Alice/);
      const answer = await press(page, /Continue/);
      const request = answer.request();
      assert.deepEqual([request.method(), request.url()], ["POST", redirectUri]);
      assert.equal((await request.allHeaders())["sec-fetch-site"], "cross-site");
      assert.deepEqual([answer.status(), await answer.json()], [200, "alice"]);
      assert.deepEqual(complaints, []);
    }),
  { skip: SKIP_BROWSER, slow: true },
);
