/** The documentation pages of the running examples in a browser. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { complaintsOf, SKIP_BROWSER, startBrowser } from "../support/browser.ts";
import { freePort } from "../support/free_port.ts";
import { routeCdn } from "../openapi/cdn.ts";
import { HANDS, logInAlice } from "../openapi/docs_hands.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

const hands = HANDS["swagger-ui"];

interface Example {
  /** Its file. */
  readonly file: string;
  /** Its variables other than the port. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs an example and opens its page, which can request only files of the CDN from the internet. */
async function visit(
  { file, env = {} }: Example,
  body: (page: Page, origin: string) => Promise<void>,
): Promise<void> {
  const port = await freePort(2);
  await using example = new Subprocess(file, { env: { ...env, PORT: String(port) } });
  await using browser = await startBrowser();
  await example.until(new RegExp(`Listening on .+:${port}$`, "m")); // its provider listens first
  const context = await browser.newContext({ viewport: { width: 1280, height: 1600 } });
  const outside = await routeCdn(context);
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const complaints = await complaintsOf(page);
  const origin = `http://localhost:${port}`;
  await page.goto(`${origin}/docs`);
  await body(page, origin);
  assert.deepEqual(outside.ofOthers, []);
  assert.deepEqual(complaints, []);
}

test(
  "the page of the users example creates a user, with the headers of its middleware",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "fw-docs-users-"));
    const env = { DATABASE_URL: `sqlite:${join(folder, "users.sqlite")}` };
    try {
      await visit({ file: "examples/users.ts", env }, async (page, origin) => {
        assert.deepEqual(await hands.operations(page), [
          "Create a user",
          "List users",
          "Find a user",
          "Change a user",
          "Delete a user",
        ]);
        const answer = await hands.send(page, "Create a user", 201);
        assert.match(await answer.innerText(), /"email": "user@example\.com"/);
        const [user] = await (await fetch(`${origin}/api/v1/users`)).json();
        assert.deepEqual(user, { id: 1, email: "user@example.com", name: "string", active: true });
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  { skip: SKIP_BROWSER, slow: true },
);

test("the page of the OAuth2 example signs in at the development identity provider", async () => {
  await visit({ file: "examples/oauth2.ts" }, async (page, origin) => {
    const refused = await fetch(`${origin}/me`);
    assert.deepEqual([refused.status, (await refused.json()).status], [401, 401]);
    await logInAlice(await hands.signIn(page));
    await hands.signedIn(page);
    const answer = await hands.send(page, "Return the caller", 200);
    assert.match(await answer.innerText(), /"subject": "alice"/);
  });
}, { skip: SKIP_BROWSER, slow: true });
