/**
 * The URLs and addresses to which webhooks may be sent: none in the network of the application
 * (server-side request forgery).
 *
 * @module
 */
import { lookup, Resolver } from "node:dns/promises";
import { within } from "../../platform/time_limit.ts";
import { lazy } from "../../platform/lazy.ts";

/** Resolves the name of a host to its addresses. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Options of {@linkcode addressesOf}. */
export interface TargetOptions {
  /** Whether http and addresses that are not public are allowed. */
  readonly allowLocal: boolean;
  /** Resolves names. */
  readonly resolve: ResolveHost;
}

/** An address of a host. */
export interface Address {
  /** The address. */
  readonly address: string;
  /** 4 or 6. */
  readonly family: 4 | 6;
}

/** Thrown for a refused target. Its message is the reason, without an address. */
export class TargetError extends Error {
  /** The name of the class. */
  override readonly name = "TargetError";
}

/** The unicast addresses of IPv6 that are assigned (RFC 4291 §2.4, IANA). */
const GLOBAL_UNICAST = "2000::/3";

/**
 * Loads the parser of addresses, which knows their ranges.
 *
 * @throws {TypeError} if `ipaddr.js` is not installed
 */
export async function loadAddresses(): Promise<typeof import("ipaddr.js")> {
  return (await addresses()).default;
}

// bundlers accept a missing package only if its import is caught here
const addresses = lazy(() =>
  import("ipaddr.js").catch((cause) => {
    throw new TypeError("Cannot send webhooks: npm install ipaddr.js", { cause });
  })
);

/** How long a name server has to answer, in milliseconds. */
const QUERY = { timeout: 2000, tries: 2 };
/** How long addresses of one family are waited for when there are some of the other. */
const OTHER_FAMILY_MS = 500;

/**
 * Resolves names by DNS, of the name servers of the system by default. `lookup` would block a
 * thread of the process while a name server is silent.
 */
export async function dnsResolve(
  host: string,
  servers?: readonly string[],
): Promise<readonly string[]> {
  const resolver = new Resolver(QUERY);
  if (servers) resolver.setServers(servers);
  const found: string[] = [];
  const families = [resolver.resolve4(host), resolver.resolve6(host)].map(async (family) => {
    found.push(...await family);
  });
  const all = Promise.allSettled(families);
  try {
    await Promise.any(families);
    await within(all, OTHER_FAMILY_MS);
    return [...found];
  } catch (error) {
    throw (error as AggregateError).errors[0];
  } finally {
    resolver.cancel();
  }
}

/** Resolves names as the system does, local ones included. */
export async function systemResolve(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/**
 * Returns the URL of an endpoint.
 *
 * @throws {TargetError} if it is not absolute, is not https, or has a user or a fragment
 */
export function targetUrl(url: string, { allowLocal }: { readonly allowLocal: boolean }): URL {
  const parsed = URL.parse(url);
  if (!parsed) throw new TargetError("its URL is not absolute");
  const { protocol, username, password, hash } = parsed;
  if (protocol !== "https:" && !(allowLocal && protocol === "http:")) {
    throw new TargetError("its URL is not https");
  }
  if (username !== "" || password !== "") throw new TargetError("its URL has a user");
  if (hash !== "") throw new TargetError("its URL has a fragment");
  return parsed;
}

/**
 * Returns the addresses of the host of a URL, all of which are public. The connection must be to
 * one of them: the name can resolve to others the next time (DNS rebinding).
 *
 * @throws {TargetError} if the name has no address, or one that is not public
 */
export async function addressesOf(
  { hostname }: URL,
  { allowLocal, resolve }: TargetOptions,
): Promise<readonly Address[]> {
  const ip = await loadAddresses();
  const host = hostname.replace(/^\[|\]$/g, ""); // of IPv6
  const found = ip.isValid(host) ? [host] : await resolve(host).catch((cause) => {
    throw new TargetError("the name of its host cannot be resolved", { cause });
  });
  if (found.length === 0) throw new TargetError("the name of its host has no address");
  return found.map((address) => {
    const parsed = ip.process(address); // of IPv4-mapped IPv6, the IPv4 address
    const isPublic = parsed.range() === "unicast" &&
      (parsed.kind() === "ipv4" || parsed.match(ip.parseCIDR(GLOBAL_UNICAST)));
    if (!isPublic && !allowLocal) {
      throw new TargetError("its host has an address that is not public");
    }
    return { address, family: ip.parse(address).kind() === "ipv4" ? 4 : 6 };
  });
}
