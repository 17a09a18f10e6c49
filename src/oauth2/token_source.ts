/**
 * Where the token of a request is: in its `Authorization` header, or in a cookie.
 *
 * @module
 */
import { getCookie } from "hono/cookie";
import type { Context } from "../core/http/context.ts";
import { ForbiddenException } from "../core/http/http_exception.ts";
import { isHttpToken } from "../core/http/http_token.ts";
import { OAuth2Error } from "./ground/errors.ts";
import { checkNames, type Refuse, refusing } from "../platform/option_names.ts";

/** Where `useOAuth2` and `useAuthn` find the token of a request. */
export interface TokenSource {
  /** What is missing without a token, for the log: `credentials of the scheme Bearer`. */
  readonly description: string;
  /** The values of `WWW-Authenticate` (RFC 9110 §11.6.1). */
  readonly challenges: TokenChallenges;
  /**
   * Reads the token; `undefined` if the request has none.
   *
   * @throws {OAuth2Error} `Validation` if the credentials are malformed; routes that need an
   * identity answer 401
   * @throws {HttpException} if the token may not be used; routes that need an identity
   * answer with it
   */
  read(c: Context): string | undefined;
}

/** The values of `WWW-Authenticate` for callers who are refused. */
export interface TokenChallenges {
  /** For a 401 when the request has no token. */
  readonly missing: string;
  /** For a 401 when the token is invalid. */
  readonly invalid: string;
  /** For a 403 when the caller lacks a role or a scope, which is added; none by default. */
  readonly insufficient?: string;
}

/** Options of {@linkcode cookie}. */
export interface CookieSourceOptions {
  /**
   * Whether requests with an unsafe method must be same-site; `true` by default. Use `false` only
   * if the application prevents cross-site request forgery itself, as with the `csrf` middleware of
   * Hono. WebSocket upgrades must be same-site in any case: that middleware does not check them.
   */
  readonly csrf?: boolean;
}

/** The syntax of a token in RFC 6750 §2.1 and RFC 9110 §11.2, after the scheme. */
const CREDENTIALS = /^ +([\w\-.~+/]+=*)$/;

/** The name of a cookie, with white space around it; its time is linear. */
const PADDED = /^[ \t]*([^ \t]+)[ \t]*$/;

/** The methods that change nothing (RFC 9110 §9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/**
 * Values of `Sec-Fetch-Site` (Fetch Metadata §2.2). `none`: the user started the request, as
 * by a bookmark.
 */
const SAME_SITE: ReadonlySet<string> = new Set(["same-origin", "same-site", "none"]);

/**
 * Reads the token from `Authorization: Bearer <token>` (RFC 6750 §2.1). This is the default.
 *
 * @example
 * ```ts
 * import { bearer, FwFactory, module } from "@fw/fw";
 * import { AuthnModule, JwtKey, JwtService } from "@fw/fw/authn";
 *
 * const key = await JwtKey.generate();
 * const jwt = AuthnModule.forRoot({ issuer: "https://api.example.com", key });
 * const app = await FwFactory.create(module({ imports: [jwt] }));
 * app.useAuthn(app.get(JwtService), { from: bearer() });
 * ```
 */
export function bearer(): TokenSource {
  return scheme("Bearer");
}

/**
 * Reads the token from `Authorization: <name> <token>`, with the name in any case.
 * `WWW-Authenticate` has that name and the parameters of RFC 6750 §3.
 *
 * @throws {TypeError} if the name is not a token (RFC 9110 §11.1)
 */
export function scheme(name: string): TokenSource {
  checkName("authentication scheme", name);
  const prefix = name.toLowerCase();
  return {
    description: `credentials of the scheme ${name}`,
    challenges: {
      missing: name,
      invalid: `${name} error="invalid_token"`,
      insufficient: `${name} error="insufficient_scope"`,
    },
    read(c) {
      const authorization = c.req.header("authorization") ?? "";
      const [given = ""] = authorization.split(" ", 1);
      if (given.toLowerCase() !== prefix) return undefined;
      const token = CREDENTIALS.exec(authorization.slice(given.length))?.[1];
      return token ?? malformed("the credentials are malformed");
    },
  };
}

/**
 * Reads the token from a cookie. Browsers send cookies with requests from any site, so a request
 * with an unsafe method and a WebSocket upgrade must be same-site: its `Sec-Fetch-Site` is
 * `same-origin`, `same-site` or `none`, or, without that header, its `Origin` is the origin of its
 * URL, or that with `https`, as a proxy may end TLS. Otherwise the token is not used: routes that
 * need an identity answer 403, others serve an anonymous caller.
 *
 * RFC 9110 §15.5.2 requires a challenge in every 401, and no scheme is registered for cookies. Here
 * it is `Cookie cookie-name="<name>"`, which browsers ignore.
 *
 * @example
 * ```ts
 * import { cookie, FwFactory, module } from "@fw/fw";
 * import { AuthnModule, JwtKey, JwtService } from "@fw/fw/authn";
 *
 * const key = await JwtKey.generate();
 * const jwt = AuthnModule.forRoot({ issuer: "https://shop.example.com", key });
 * const app = await FwFactory.create(module({ imports: [jwt] }));
 * app.useAuthn(app.get(JwtService), { from: cookie("__Host-session") });
 * ```
 *
 * @throws {TypeError} if the name is not a valid cookie name (RFC 6265 §4.1.1), an option is
 * unknown, or `csrf` is not a boolean
 */
export function cookie(name: string, options: CookieSourceOptions = {}): TokenSource {
  const refuse: Refuse = refusing("read the token from a cookie");
  checkName("cookie", name);
  checkNames(options, { known: ["csrf"], refuse });
  const { csrf = true } = options;
  if (typeof csrf !== "boolean") refuse("csrf is not a boolean");
  const challenge = `Cookie cookie-name="${name}"`;
  return {
    description: `cookie ${name}`,
    challenges: { missing: challenge, invalid: challenge },
    read(c) {
      const token = getCookie(c, name);
      if (!token) return undefined; // a logout may set an empty value
      if (isRepeated(c, name)) malformed(`the cookie ${name} is sent more than once`);
      if ((isUpgrade(c) || csrf && !SAFE_METHODS.has(c.req.method)) && !isSameSite(c)) {
        throw new ForbiddenException(`The cookie ${name} authenticates same-site requests only`);
      }
      return token;
    },
  };
}

function checkName(kind: string, name: string): void {
  if (typeof name === "string" && isHttpToken(name)) return;
  throw new TypeError(`Cannot read ${kind} ${JSON.stringify(name)}: it is not a token of RFC 9110`);
}

/** Checks for a second cookie of the same name, which another host of the domain can set. */
function isRepeated(c: Context, name: string): boolean {
  const pairs = (c.req.header("cookie") ?? "").split(";");
  const nameOf = (pair: string) => PADDED.exec(pair.split("=", 1)[0] ?? "")?.[1];
  return pairs.filter((pair) => nameOf(pair) === name).length > 1;
}

function isUpgrade(c: Context): boolean {
  return /\bwebsocket\b/i.test(c.req.header("upgrade") ?? "");
}

function isSameSite(c: Context): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return SAME_SITE.has(site);
  const origin = c.req.header("origin");
  const url = URL.parse(c.req.url);
  if (origin === undefined || !url) return false;
  // a proxy that ends the TLS of a site passes its requests on by http
  return origin === url.origin || origin === URL.parse(`https://${url.host}`)?.origin;
}

function malformed(why: string): never {
  throw new OAuth2Error({ code: "Validation" }, `Cannot read token: ${why}`);
}
