/**
 * Knowing a browser again.
 *
 * @module
 */
import { getCookie, setCookie } from "hono/cookie";
import { base64url } from "jose";
import type { Context } from "../../core/context.ts";

/** How the cookie is set. */
export interface BrowserCookieOptions {
  /** Whether the site is served by https. */
  readonly isSecure: boolean;
  /** Whether the browser has to send it with a POST from another site. */
  readonly isCrossSite: boolean;
  /** How long it lasts in milliseconds. */
  readonly ttlMs: number;
}

const NAME = "fw-login";
const VALUE = /^[\w-]{22}$/;

/**
 * A cookie of 128 random bits, which says nothing but that a browser is the one that came before. With
 * https its name begins with `__Host-`, so that no other site of the domain can set it.
 */
export class BrowserCookie {
  readonly #options: BrowserCookieOptions;

  /** Creates what sets and reads the cookie. */
  constructor(options: BrowserCookieOptions) {
    this.#options = options;
  }

  /** Sets the cookie, or keeps the one there is, and gives its digest. */
  async set(c: Context): Promise<string> {
    const { isSecure, isCrossSite, ttlMs } = this.#options;
    const value = this.#read(c) ?? randomValue();
    setCookie(c, NAME, value, {
      ...this.#prefix,
      path: "/",
      httpOnly: true,
      secure: isSecure || isCrossSite, // without it, no browser takes what is sent across sites
      sameSite: isCrossSite ? "None" : "Lax",
      maxAge: Math.ceil(ttlMs / 1000),
    });
    return await digestOf(value);
  }

  /** Gives the digest of the cookie that the browser has sent. */
  async digest(c: Context): Promise<string | undefined> {
    const value = this.#read(c);
    return value === undefined ? undefined : await digestOf(value);
  }

  get #prefix(): { readonly prefix?: "host" } {
    return this.#options.isSecure ? { prefix: "host" } : {};
  }

  #read(c: Context): string | undefined {
    const value = getCookie(c, NAME, this.#prefix.prefix);
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
