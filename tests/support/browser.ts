/**
 * A real browser for tests: Chromium, without a head, driven by Playwright.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import type { Browser, Page } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** `CHROMIUM_PATH`, or the first on the PATH. */
const CHROMIUM: string | undefined = process.env.CHROMIUM_PATH || onPath(NAMES);

/** Why the tests with a browser are skipped, if they are. */
export const SKIP_BROWSER: string | undefined = CHROMIUM === undefined
  ? "no Chromium: set CHROMIUM_PATH or install chromium or google-chrome"
  : undefined;

/** Starts a browser with a profile of its own, which is gone at its end. */
export async function startBrowser(): Promise<Browser> {
  // only here: nothing of it is needed where there is no browser
  const { chromium } = await import("playwright-core");
  return await chromium.launch({
    ...CHROMIUM && { executablePath: CHROMIUM },
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/**
 * Notes from now on what a page complains of: errors and warnings of its console, exceptions, and what
 * its Content-Security-Policy has blocked. Browsers ask for an icon by themselves: that there is none
 * is no complaint.
 */
export async function complaintsOf(page: Page): Promise<readonly string[]> {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const isOfIcon = message.location().url.endsWith("/favicon.ico");
    if (["error", "warning"].includes(message.type()) && !isOfIcon) complaints.push(message.text());
  });
  const content =
    `addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    console.error("CSP:", violatedDirective, blockedURI))`;
  await page.addInitScript({ content });
  return complaints;
}

function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}
