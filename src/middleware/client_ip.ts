/**
 * Tells which address a request came from.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { type Context, type Slot, slot } from "../core/http/context.ts";
import { middlewarePlugin, type Plugin } from "../core/module/plugin.ts";

/** The address of the client according to trusted proxies. */
const clientIpSlot: Slot<string> = slot("clientIp");

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^(?:::ffff:)?(${OCTET}(?:\\.${OCTET}){3})$`, "i");

/** What the runtimes put in a context's `env`, as far as it leads to the socket. */
interface SocketEnv {
  /** Deno's `ServeHandlerInfo`. */
  readonly remoteAddr?: { readonly hostname?: string };
  /** Bun's `Server`. */
  readonly requestIP?: (request: Request) => { readonly address: string } | null;
  /** The bindings of `@hono/node-server`. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/**
 * Extractor of the client's IP address, in canonical form: the socket's peer, or what the proxies
 * in front say of it if the application trusts them. `undefined` when there is no socket, as on an
 * edge runtime, on a Unix socket or in a test.
 */
export function clientIp(c: Context): string | undefined {
  return clientIpSlot.get(c) ?? socketIp(c);
}

/** Gives the address of the socket's peer, whatever a proxy says. */
export function socketIp(c: Context): string | undefined {
  // The seam to the runtime: `env` is whatever its server passed to `fetch`.
  const env = c.env as SocketEnv | undefined;
  const address = env?.remoteAddr?.hostname ?? env?.incoming?.socket?.remoteAddress ??
    env?.requestIP?.(c.req.raw)?.address;
  return address === undefined ? undefined : parseIp(address);
}

/** Which proxies are believed. */
export interface TrustedProxyOptions {
  /**
   * How many proxies every request passes, each of which adds its peer to `X-Forwarded-For`. A
   * client that can go round them can forge its address.
   */
  readonly hops: number;
}

/**
 * Returns the plugin of {@linkcode trustedProxy}.
 *
 * @throws {RangeError} if `hops` is not a positive integer
 */
export function trustedProxyPlugin(options: TrustedProxyOptions): Plugin {
  return middlewarePlugin("trustedProxy", trustedProxy(options));
}

/**
 * Makes `clientIp` give the address that the outermost trusted proxy saw: the `hops`-th from the
 * right of `X-Forwarded-For`, as anything further left is the client's own invention. The walk from
 * the socket outwards stops before an entry that is not an IP address or at the end of the list.
 *
 * @throws {RangeError} if `hops` is not a positive integer
 */
export function trustedProxy({ hops }: TrustedProxyOptions): MiddlewareHandler {
  if (!Number.isSafeInteger(hops) || hops < 1) {
    throw new RangeError(`Cannot trust proxies: ${hops} hops is not a positive integer`);
  }
  return async function trustedProxy(c, next) {
    let ip = socketIp(c);
    const entries = c.req.header("x-forwarded-for")?.split(",") ?? [];
    for (const entry of entries.slice(-hops).reverse()) {
      const forwarded = parseIp(withoutPort(entry.trim()));
      if (forwarded === undefined) break;
      ip = forwarded;
    }
    clientIpSlot.set(c, ip);
    await next();
  };
}

/** Takes the port off `192.0.2.1:80`, `[2001:db8::1]:80` and the brackets off `[2001:db8::1]`. */
function withoutPort(entry: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return ipv6 ?? ipv4 ?? entry;
}

/**
 * Gives an IP address in its canonical form, or `undefined` for anything else: dotted decimal for
 * IPv4 and for IPv6 that maps it (`::ffff:192.0.2.1`), RFC 5952 without a zone for other IPv6.
 */
export function parseIp(text: string): string | undefined {
  const ipv4 = IPV4.exec(text)?.[1];
  if (ipv4 !== undefined) return ipv4;
  // Bun's URL parser takes a single colon at the end, which no address has.
  const address = /^([\da-f:.]{0,43}(?:::|[\da-f]))(?:%[\w.-]+)?$/i.exec(text)?.[1];
  const canonical = address && URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  return canonical ? unmapped(canonical) : undefined;
}

/**
 * Gives the network that one client controls: an IPv4 address itself, the /64 of an IPv6 address,
 * as every host has 2^64 of those to choose from. Takes what {@linkcode parseIp} gave.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [left, right] = ip.split("::").map((half) => half === "" ? [] : half.split(":"));
  const groups = [...left ?? [], ...zeros(8 - (left?.length ?? 0) - (right?.length ?? 0))];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

function unmapped(ipv6: string): string {
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(ipv6) ?? [];
  if (high === undefined || low === undefined) return ipv6;
  return [high, low].flatMap((group) => {
    const word = parseInt(group, 16);
    return [word >> 8, word & 0xff];
  }).join(".");
}

function zeros(length: number): string[] {
  return new Array(length).fill("0");
}
