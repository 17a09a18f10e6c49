/**
 * What a run provides to an application in place of its own: tokens of callers.
 *
 * @module
 */
import type { FwApplication } from "../../application/application.ts";
import { JwtKey } from "../../authn/jwt_key.ts";
import { JwtService, OWN_CLAIMS } from "../../authn/jwt_service.ts";
import type { Module } from "../../core/module/module.ts";
import { type InjectionKey, keyOf, provide, type Provider } from "../../core/module/provider.ts";
import { DbService } from "../../db/service.ts";
import { claimedRoles, identityOf } from "../../oauth2/identity.ts";
import { JwtVerifier } from "../../oauth2/resource_server/jwt_verifier.ts";
import type { ProveCaller, ProveIdentity } from "./options.ts";
import type { DbClass } from "./own_databases.ts";
import { ANONYMOUS, type SignedCaller } from "./part.ts";
import type { TokenHeaders } from "./token_headers.ts";

/** The keys of an application that a run provides. */
export interface ProvidedKeys {
  /** The classes of its databases. */
  readonly databases: readonly DbClass[];
  /** Whether it injects a `JwtVerifier`. */
  readonly hasVerifier: boolean;
  /** Whether it injects a `JwtService`, which issues its own tokens. */
  readonly hasIssuer: boolean;
}

/** Finds the keys in a module and those that it imports. */
export async function providedKeys(root: Module): Promise<ProvidedKeys> {
  const keys = await keysOf(root, new Set());
  return {
    databases: [...keys].filter(isDbClass),
    hasVerifier: keys.has(JwtVerifier),
    hasIssuer: keys.has(JwtService),
  };
}

/** What replaces them. */
export interface Replacements {
  readonly providers: readonly Provider[];
  /** Issues tokens like those of the `JwtService` that is provided, which have expired. */
  readonly outdated: JwtService;
}

/** Returns the providers that replace them, except for databases. */
export async function replacements(
  { hasVerifier, hasIssuer }: ProvidedKeys,
  { verifier }: ProveIdentity,
): Promise<Replacements> {
  const options = { issuer: "prove", key: await JwtKey.generate() };
  const service = new JwtService(options);
  return {
    providers: [
      ...hasVerifier ? [provide(JwtVerifier, () => verifier)] : [],
      ...hasIssuer ? [provide(JwtService, () => service)] : [],
    ],
    outdated: new JwtService({ ...options, now: () => Date.now() - DAY_MS }),
  };
}

const DAY_MS = 86_400_000;

async function keysOf(
  { providers, imports }: Module,
  keys: Set<InjectionKey<unknown>>,
): Promise<ReadonlySet<InjectionKey<unknown>>> {
  for (const provider of providers) keys.add(keyOf(provider));
  for (const imported of imports) await keysOf(await imported, keys);
  return keys;
}

function isDbClass(key: InjectionKey<unknown>): key is DbClass {
  return typeof key === "function" && key.prototype instanceof DbService;
}

/** Who signs tokens. */
export interface Signing {
  readonly identity: ProveIdentity;
  /** The application; `undefined` if it issues no tokens. */
  readonly issuer: FwApplication | undefined;
  /** A service whose tokens have expired; `undefined` if the application has keys of its own. */
  readonly outdated: JwtService | undefined;
  /** How the application is sent tokens. */
  readonly tokenHeaders: TokenHeaders;
}

/** For how long tokens are valid: longer than any run. */
const DAY_SECONDS = 86_400;

/** Longer than any tolerance of a verifier. */
const EXPIRED_SECONDS = -86_400;

/** The claims of callers that the issuers set themselves, or that are no claims. */
const OWN = [...OWN_CLAIMS, "headers"];

/** Signs a caller in. */
export async function signIn(
  name: string,
  caller: ProveCaller,
  { identity, issuer, tokenHeaders }: Signing,
): Promise<SignedCaller> {
  if (caller.headers) return signed(name, caller, caller.headers);
  const token = issuer
    ? await issuer.get(JwtService).sign({
      ...contentOf(name, caller),
      expiresInSeconds: DAY_SECONDS,
    })
    : await issuedToken(name, caller, { identity, seconds: DAY_SECONDS });
  return signed(name, caller, tokenHeaders(token));
}

/**
 * Returns a caller whose token has expired, and is right otherwise; `undefined` if the application
 * signs tokens with keys of its own, as none of these can have expired.
 */
export async function expiredCaller(
  caller: ProveCaller,
  { identity, issuer, outdated, tokenHeaders }: Signing,
): Promise<SignedCaller | undefined> {
  if (issuer && !outdated) return undefined;
  const token = outdated
    ? await outdated.sign(contentOf(EXPIRED, caller))
    : await issuedToken(EXPIRED, caller, { identity, seconds: EXPIRED_SECONDS });
  return { ...ANONYMOUS, name: EXPIRED, headers: tokenHeaders(token) };
}

const EXPIRED = "expired";

function signed(
  name: string,
  caller: ProveCaller,
  headers: Readonly<Record<string, string>>,
): SignedCaller {
  const claims = { ...caller, sub: name, exp: Infinity };
  const [roles, { scopes }] = [claimedRoles(claims), identityOf(claims)];
  return { name, headers, roles, scopes, isKnown: true, isLimited: true, isHasty: true };
}

function contentOf(name: string, caller: ProveCaller) {
  const { sub, roles } = caller;
  const subject = typeof sub === "string" ? sub : name;
  const claims = Object.fromEntries(Object.entries(caller).filter(([key]) => !OWN.includes(key)));
  return { subject, claims, ...roles && { roles } };
}

function issuedToken(
  name: string,
  caller: ProveCaller,
  { identity: { provider }, seconds }: {
    readonly identity: ProveIdentity;
    readonly seconds: number;
  },
): Promise<string> {
  return provider.issueToken({ ...contentOf(name, caller), expiresInSeconds: seconds });
}
