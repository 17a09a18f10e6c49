/**
 * What a login exchanges with the browser: a cookie, the parameters of the callback and
 * a return path.
 *
 * @module
 */
import { getCookie, setCookie } from "hono/cookie";
import * as base64url from "jose/base64url";
import type { Context } from "../../core/http/context.ts";
import { readBody } from "../../core/http/body.ts";
import {
  BadRequestException,
  UnsupportedMediaTypeException,
} from "../../core/http/http_exception.ts";

/** Options of a {@linkcode BrowserCookie}. */
export interface BrowserCookieOptions {
  /** Whether the site is served over https. */
  readonly isSecure: boolean;
  /** The lifetime of the cookies in milliseconds. */
  readonly ttlMs: number;
}

/** With which requests a browser sends a cookie. */
export interface CookieReach {
  /** Whether the cookie must be sent with a POST from another site. */
  readonly isCrossSite: boolean;
}

/** Each reach has its own cookie, so that a login does not replace the cookie of another. */
const NAMES = { sameSite: "fw-login", crossSite: "fw-login-post" } as const;
const VALUE = /^[\w-]{22}$/;

/**
 * Cookies of 128 random bits, which only identify a browser. With https, their names begin with
 * `__Host-`, so that no other host of the domain can set them.
 */
export class BrowserCookie {
  readonly #options: BrowserCookieOptions;

  /** Creates a reader and writer of the cookies. */
  constructor(options: BrowserCookieOptions) {
    this.#options = options;
  }

  /** Sets a cookie, or keeps the current one, and returns its digest. */
  async set(c: Context, { isCrossSite }: CookieReach): Promise<string> {
    const { isSecure, ttlMs } = this.#options;
    const name = isCrossSite ? NAMES.crossSite : NAMES.sameSite;
    const value = this.#read(c, name) ?? randomValue();
    setCookie(c, name, value, {
      ...this.#prefix,
      path: "/",
      httpOnly: true,
      secure: isSecure || isCrossSite, // browsers refuse cross-site cookies without it
      sameSite: isCrossSite ? "None" : "Lax",
      maxAge: Math.ceil(ttlMs / 1000),
    });
    return await digestOf(value);
  }

  /** Returns the digests of the cookies of the request: none, one or two. */
  async digests(c: Context): Promise<readonly string[]> {
    const values = Object.values(NAMES).map((name) => this.#read(c, name));
    return await Promise.all(values.filter((value) => value !== undefined).map(digestOf));
  }

  get #prefix(): { readonly prefix?: "host" } {
    return this.#options.isSecure ? { prefix: "host" } : {};
  }

  #read(c: Context, name: string): string | undefined {
    const value = getCookie(c, name, this.#prefix.prefix);
    return value !== undefined && VALUE.test(value) ? value : undefined;
  }
}

/** The parameters of a valid callback. */
export interface CallbackParameters {
  /** All parameters. */
  readonly parameters: URLSearchParams;
  /** The state, not yet verified. */
  readonly state: string;
}

/** The parameters that must not be repeated (RFC 6749 §3.1). */
const SINGLE = ["state", "code", "error", "iss"];

/**
 * Reads a callback: the query of a GET, or the form of a POST.
 *
 * @throws {BadRequestException} 400 if `state`, or both `code` and `error`, are missing, or if one
 * of them or `iss` is repeated
 */
export async function callbackParameters(c: Context): Promise<CallbackParameters> {
  const parameters = c.req.method === "POST"
    ? await formParameters(c)
    : new URL(c.req.url).searchParams;
  const repeated = SINGLE.find((name) => parameters.getAll(name).length > 1);
  if (repeated !== undefined) refuse(`The callback has ${repeated} more than once`);
  const state = parameters.get("state") || refuse("The callback has no state");
  if (!parameters.get("code") && !parameters.get("error")) refuse("The callback has no code");
  return { parameters, state };
}

/** An origin that no path has by itself. */
const SITE = "https://site.invalid";

/** The longest path in characters, which fits into a response header on every platform. */
const MAX_LENGTH = 2048;

/**
 * Normalizes a path of this site as browsers do, with its query and fragment. Paths to another
 * site, such as `//example.com` or `/\example.com`, are refused.
 *
 * @throws {BadRequestException} 400 if the path leads to another site, or is longer than 2 048
 * characters when percent-encoded
 */
export function returnPath(path: string): string {
  const url = path.startsWith("/") ? parse(path) : undefined;
  // browsers read a path that begins with two slashes as the name of another site
  if (url?.origin === SITE && !url.pathname.startsWith("//")) {
    const sent = url.pathname + url.search + url.hash;
    if (sent.length <= MAX_LENGTH) return sent;
  }
  throw new BadRequestException("The return path is not a path of this site");
}

function randomValue(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(16)));
}

async function digestOf(value: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(value));
  return base64url.encode(new Uint8Array(digest));
}

async function formParameters(c: Context): Promise<URLSearchParams> {
  try {
    const fields = Object.entries(await readBody(c, { consumes: ["form"] }) ?? {});
    return new URLSearchParams(
      fields.flatMap(([name, values]) => [values].flat().map((value) => [name, String(value)])),
    );
  } catch (cause) {
    if (cause instanceof UnsupportedMediaTypeException) refuse("The callback is not a form", cause);
    throw cause;
  }
}

function refuse(message: string, cause?: unknown): never {
  throw new BadRequestException(message, { cause });
}

function parse(path: string): URL | undefined {
  return URL.parse(path, SITE) ?? undefined;
}
