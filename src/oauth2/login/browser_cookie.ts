/**
 * Knowing a browser again.
 *
 * @module
 */
import { getCookie, setCookie } from "hono/cookie";
import { base64url } from "jose";
import type { Context } from "../../core/http/context.ts";

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
