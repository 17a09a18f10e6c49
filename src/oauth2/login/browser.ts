/**
 * What a login exchanges with the browser: a cookie, the parameters of the callback and a return path.
 *
 * @module
 */
import { getCookie, setCookie } from "hono/cookie";
import { base64url } from "jose";
import type { Context } from "../../core/http/context.ts";
import { BadRequestException } from "../../core/http/http_exception.ts";

/** How the cookies are set. */
export interface BrowserCookieOptions {
  /** Whether the site is served by https. */
  readonly isSecure: boolean;
  /** How long they last in milliseconds. */
  readonly ttlMs: number;
}

/** Where a browser sends a cookie. */
export interface CookieReach {
  /** Whether it has to be sent with a POST from another site. */
  readonly isCrossSite: boolean;
}

/** Each reach has a cookie of its own, lest a login of one takes the other's cookie away. */
const NAMES = { sameSite: "fw-login", crossSite: "fw-login-post" } as const;
const VALUE = /^[\w-]{22}$/;

/**
 * Cookies of 128 random bits, which say nothing but that a browser is the one that came before. With
 * https their names begin with `__Host-`, so that no other site of the domain can set them.
 */
export class BrowserCookie {
  readonly #options: BrowserCookieOptions;

  /** Creates what sets and reads the cookies. */
  constructor(options: BrowserCookieOptions) {
    this.#options = options;
  }

  /** Sets a cookie, or keeps the one there is, and gives its digest. */
  async set(c: Context, { isCrossSite }: CookieReach): Promise<string> {
    const { isSecure, ttlMs } = this.#options;
    const name = isCrossSite ? NAMES.crossSite : NAMES.sameSite;
    const value = this.#read(c, name) ?? randomValue();
    setCookie(c, name, value, {
      ...this.#prefix,
      path: "/",
      httpOnly: true,
      secure: isSecure || isCrossSite, // without it, no browser takes what is sent across sites
      sameSite: isCrossSite ? "None" : "Lax",
      maxAge: Math.ceil(ttlMs / 1000),
    });
    return await digestOf(value);
  }

  /** Gives the digests of the cookies that the browser has sent: none, one or two. */
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

function randomValue(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(16)));
}

async function digestOf(value: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(value));
  return base64url.encode(new Uint8Array(digest));
}

/** A callback that has what a callback must have. */
export interface CallbackParameters {
  /** All of its parameters. */
  readonly parameters: URLSearchParams;
  /** Its state, which nothing is known of yet. */
  readonly state: string;
}

/** What comes twice may be read as two things (RFC 6749 §3.1). */
const SINGLE = ["state", "code", "error", "iss"];

/**
 * Reads a callback: the query of a GET, the form of a POST.
 *
 * @throws {BadRequestException} 400 if it lacks `state`, or both `code` and `error`, or has one of them,
 * or `iss`, twice
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

async function formParameters(c: Context): Promise<URLSearchParams> {
  try {
    const fields = [...await c.req.formData()];
    return new URLSearchParams(
      fields.flatMap(([name, value]) => typeof value === "string" ? [[name, value]] : []),
    );
  } catch (cause) {
    return refuse("The callback is no form", cause);
  }
}

function refuse(message: string, cause?: unknown): never {
  throw new BadRequestException(message, { cause });
}

/** A site that no path belongs to by itself. */
const SITE = "https://site.invalid";

/** What a header of a response has room for everywhere. */
const MAX_LENGTH = 2048;

/**
 * Gives a path of this site as browsers understand it, with its query and fragment. What leads to
 * another site, such as `//example.com` or `/\example.com`, is refused.
 *
 * @throws {BadRequestException} 400 if it leads elsewhere, or is over 2 048 characters as it is sent,
 * percent-encoded
 */
export function returnPath(path: string): string {
  const url = path.startsWith("/") ? parse(path) : undefined;
  // a path that begins with two slashes would be read as another site's name
  if (url?.origin === SITE && !url.pathname.startsWith("//")) {
    const sent = url.pathname + url.search + url.hash;
    if (sent.length <= MAX_LENGTH) return sent;
  }
  throw new BadRequestException("The return path is no path of this site");
}

function parse(path: string): URL | undefined {
  return URL.canParse(path, SITE) ? new URL(path, SITE) : undefined;
}
