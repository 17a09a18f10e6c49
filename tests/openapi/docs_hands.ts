/**
 * How somebody uses the user interfaces of the documentation page.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { DocsUi } from "../../src/openapi/docs/docs_page_options.ts";
import { complaintsOf } from "../support/browser.ts";

/** How somebody uses a user interface. */
export interface Hands {
  /** Reads, once they are there, which operations the page has. */
  operations(page: Page): Promise<readonly string[]>;
  /** Opens an operation, sends the suggested request, and returns the response when its status is shown. */
  send(page: Page, operation: string, status: number): Promise<Locator>;
  /** Starts a sign-in, and returns the popup. */
  signIn(page: Page): Promise<Page>;
  /** Waits for the token, and goes on with the operations. */
  signedIn(page: Page): Promise<void>;
}

/** The hands for each user interface. */
export const HANDS: Readonly<Record<DocsUi, Hands>> = {
  "swagger-ui": {
    async operations(page) {
      const operations = page.locator(".opblock-summary-description");
      await operations.first().waitFor();
      return await operations.allInnerTexts();
    },
    async send(page, operation, status) {
      const block = page.locator(".opblock", { hasText: operation });
      await block.locator(".opblock-summary-control").click();
      await block.getByRole("button", { name: "Execute" }).click();
      const answer = block.locator(".live-responses-table");
      await answer.locator(".response-col_status", { hasText: `${status}` }).waitFor();
      return answer.locator(".response-col_description:not(.col_header)");
    },
    async signIn(page) {
      const form = await authorization(page, "login (OAuth2, authorizationCode with PKCE)");
      return await popupOf(page, form.getByRole("button", { name: "Apply given OAuth2" }));
    },
    async signedIn(page) {
      await page.getByRole("button", { name: "Remove authorization" }).first().waitFor();
      await page.locator(".close-modal").click();
    },
  },
  scalar: {
    async operations(page) {
      const sidebar = page.getByRole("complementary");
      await sidebar.getByRole("button", { name: "Open Group - caller" }).click();
      const operations = sidebar.getByRole("link", { name: "HTTP Method" });
      await operations.filter({ hasText: "A page about it" }).waitFor();
      return (await operations.allInnerTexts()).map((text) => text.split("\n")[0]?.trim() ?? "");
    },
    async send(page, operation, status) {
      const sidebar = page.getByRole("complementary");
      const link = sidebar.getByRole("link", { name: operation });
      if (!await link.isVisible()) {
        await sidebar.getByRole("button", { name: "Open Group - caller" }).click();
      }
      await link.click();
      const region = page.getByRole("region", { name: operation, exact: true });
      await region.getByRole("button", { name: "Test Request" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("button", { name: /^Send \w+ request/ }).click();
      await dialog.getByText(new RegExp(`^${status} `)).waitFor();
      return dialog;
    },
    signIn: (page) => popupOf(page, page.getByRole("button", { name: "Authorize" })),
    signedIn: (page) => page.getByText("Access Token").first().waitFor(),
  },
};

/** Opens the dialog of Swagger UI for credentials, and returns its part for a scheme. */
export async function authorization(page: Page, scheme: string): Promise<Locator> {
  await page.getByRole("button", { name: "Authorize" }).click();
  return page.locator(".auth-container", { hasText: scheme });
}

/** How long a popup may take to open or to close, in milliseconds, on a busy machine. */
const POPUP_MS = 120_000;

/** Presses a button that opens a popup. */
export async function popupOf(page: Page, button: Locator): Promise<Page> {
  // together, as a rejection that nobody awaits would end the process
  const [popup] = await Promise.all([
    page.waitForEvent("popup", { timeout: POPUP_MS }),
    button.click(),
  ]);
  return popup;
}

/** Logs Alice in at the development identity provider: the popup has to close by itself. */
export async function logInAlice(popup: Page): Promise<void> {
  const complaints = await complaintsOf(popup);
  await Promise.all([
    popup.waitForEvent("close", { timeout: POPUP_MS }),
    popup.getByRole("button", { name: "Alice" }).click(),
  ]);
  assert.deepEqual(complaints, []);
}
