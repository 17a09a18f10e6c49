/**
 * The CDN as a browser in a test sees it: the files of npm packages, and nothing else of the internet.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { BrowserContext, Route } from "playwright-core";

/** A URL of a package's file on the CDN. */
const CDN_FILE =
  /^https:\/\/cdn\.jsdelivr\.net\/npm\/((?:@[\w.-]+\/)?[\w.-]+@[\w.-]+)\/([\w./-]+)$/;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "application/javascript; charset=utf-8",
};

/** The requests of a browser to other machines. */
export interface OutsideRequests {
  /** The files of the CDN. */
  readonly ofCdn: readonly string[];
  /** The URLs of all others, which have failed. */
  readonly ofOthers: readonly string[];
}

/** Answers, in all pages of a browser, for the CDN; requests to any other than this machine fail. */
export async function routeCdn(context: BrowserContext): Promise<OutsideRequests> {
  const ofCdn: string[] = [];
  const ofOthers: string[] = [];
  const answer = async (route: Route) => {
    const url = route.request().url();
    if (!CDN_FILE.test(url)) {
      ofOthers.push(url);
      return await route.abort();
    }
    ofCdn.push(url);
    await route.fulfill({
      body: Buffer.from(await cdnFile(url)),
      headers: { "access-control-allow-origin": "*", "content-type": contentTypeOf(url) },
    });
  };
  await context.route(({ hostname }) => !["localhost", "127.0.0.1"].includes(hostname), answer);
  return { ofCdn, ofOthers };
}

/** Returns the file that the CDN has at a URL. */
export async function cdnFile(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const [, specifier = "", path = ""] = CDN_FILE.exec(url) ?? [];
  return new Uint8Array(await readFile(join(await packageFolder(specifier), path)));
}

/** The type of a style sheet or a script. */
export function contentTypeOf(path: string): string {
  return CONTENT_TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

/**
 * Returns the folder of a package (`name@version`), without its dependencies. It is fetched from npm once,
 * and stays in the folder for temporary files; processes that fetch it at once do not disturb each other.
 */
async function packageFolder(specifier: string): Promise<string> {
  const cache = join(tmpdir(), "fw-npm-packages");
  const folder = join(cache, specifier.replace("/", "+"));
  if (existsSync(folder)) return join(folder, "package");
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(join(cache, "unfinished-"));
  try {
    const run = promisify(execFile);
    const args = ["pack", specifier, "--json", "--loglevel=error", "--pack-destination", "."];
    const { stdout } = await run("npm", args, { cwd: unfinished, maxBuffer: 2 ** 24 });
    const [{ filename }] = JSON.parse(stdout);
    await run("tar", ["-xzf", filename], { cwd: unfinished });
    await rename(unfinished, folder).catch((error) => {
      if (!existsSync(folder)) throw error; // another process was faster
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return join(folder, "package");
}
