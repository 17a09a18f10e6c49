/** A browser and a client of the development identity provider, based on `fetch`. */
import assert from "node:assert/strict";
import type { LogRecord } from "@logtape/logtape";
import {
  type DevelopmentClient,
  DevelopmentIdentityProvider,
  type DevelopmentIdentityProviderOptions,
} from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

export const WEB: Required<DevelopmentClient> = {
  clientId: "web",
  clientSecret: "web secret: 100% & +",
  name: "Web",
  redirectUris: ["https://web.example/callback", "https://web.example/callback?tenant=a%20b"],
};
export const OTHER: DevelopmentClient = {
  clientId: "other",
  clientSecret: "other-secret",
  redirectUris: ["https://web.example/callback"],
};
export const PUBLIC: DevelopmentClient = {
  clientId: "public",
  redirectUris: ["com.example.app:/callback"],
};

/** The example of RFC 7636 appendix B. */
export const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** Declares a test that captures the logs of the provider. */
export function providerTest(
  name: string,
  body: (records: readonly LogRecord[]) => Promise<void>,
): void {
  test(name, () => captureLogs([], body));
}

export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The response of an endpoint. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export function start(
  options: DevelopmentIdentityProviderOptions = {},
): Promise<DevelopmentIdentityProvider> {
  return DevelopmentIdentityProvider.start({ clients: [WEB, OTHER, PUBLIC], ...options });
}

/** Creates a form or a query, without `undefined` values; a list is repeated. */
export function form(parameters: Parameters): URLSearchParams {
  const made = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of value === undefined ? [] : [value].flat()) made.append(name, each);
  }
  return made;
}

export function authorizationUrl(
  { issuer }: DevelopmentIdentityProvider,
  parameters: Parameters = {},
): string {
  const query = form({
    client_id: WEB.clientId,
    redirect_uri: WEB.redirectUris[0],
    response_type: "code",
    scope: "openid profile email",
    state: "the state",
    nonce: "the nonce",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    ...parameters,
  });
  return `${issuer}/authorize?${query}`;
}

/** Opens a page, without following a redirect. */
export async function open(
  url: string,
  init: RequestInit = {},
): Promise<{ readonly response: Response; readonly text: string }> {
  const response = await fetch(url, { redirect: "manual", ...init });
  return { response, text: await response.text() };
}

/** Presses a button of the form on a page, and sends its hidden fields like a browser. */
export function press(
  { issuer }: DevelopmentIdentityProvider,
  page: string,
  button: Parameters,
): ReturnType<typeof open> {
  return open(`${issuer}/login`, {
    method: "POST",
    headers: { origin: issuer },
    body: form({ ...hiddenFields(page), ...button }),
  });
}

export function hiddenFields(page: string): Record<string, string> {
  const fields = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return Object.fromEntries(
    [...fields].map(([, name = "", value = ""]) => [unescape(name), unescape(value)]),
  );
}

/** Returns the URL of a callback without its query, and its parameters. */
export function callbackOf(
  { response }: { readonly response: Response },
): Readonly<Record<string, string>> {
  assert.equal(response.status, 303);
  const url = new URL(response.headers.get("location") ?? "");
  const parameters = Object.fromEntries(url.searchParams);
  url.search = "";
  return { to: url.href, ...parameters };
}

/** Gets a code by signing in. */
export function codeOf(idp: DevelopmentIdentityProvider, parameters: Parameters = {}): string {
  const request = idp.signIn(authorizationUrl(idp, parameters));
  return new URL(request.url).searchParams.get("code") ?? assert.fail("There is no code");
}

/** Sends a form to an endpoint as a client. */
export async function post(
  { issuer, headers = {} }: {
    readonly issuer: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
  path: string,
  parameters: Parameters,
): Promise<Answer> {
  const response = await fetch(issuer + path, {
    method: "POST",
    headers,
    body: form(parameters),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} };
}

/** Exchanges a code as the client `web`. */
export function exchange(
  idp: DevelopmentIdentityProvider,
  code: string,
  parameters: Parameters = {},
): Promise<Answer> {
  return post(idp, "/token", {
    grant_type: "authorization_code",
    client_id: WEB.clientId,
    client_secret: WEB.clientSecret,
    redirect_uri: WEB.redirectUris[0],
    code,
    code_verifier: VERIFIER,
    ...parameters,
  });
}

/** Refreshes as the client `web`. */
export function refresh(
  idp: DevelopmentIdentityProvider,
  refreshToken: unknown,
  parameters: Parameters = {},
): Promise<Answer> {
  return post(idp, "/token", {
    grant_type: "refresh_token",
    client_id: WEB.clientId,
    client_secret: WEB.clientSecret,
    refresh_token: String(refreshToken),
    ...parameters,
  });
}

/** Requests the claims of the user of an access token. */
export async function userinfo(
  { issuer }: DevelopmentIdentityProvider,
  accessToken: unknown,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const response = await fetch(`${issuer}/userinfo`, { headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function unescape(text: string): string {
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'" };
  return text.replaceAll(/&(lt|gt|quot|#39);/g, (_, name) => entities[name] as string)
    .replaceAll("&amp;", "&");
}
