/**
 * Addresses of clients: the peer of the socket, or an address that trusted proxies report.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { type Context, type Slot, slot } from "../core/http/context.ts";
import { hooked } from "../core/module/request_hooks.ts";
import { receivedRequest } from "../platform/received_request.ts";

/** The address of the client, as trusted proxies report it; set for every request. */
const trustedSlot: Slot<{ readonly ip: string | undefined }> = slot("clientIp");

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^(?:::ffff:)?(${OCTET}(?:\\.${OCTET}){3})$`, "i");

/** The `env` of a context, as the servers of the runtimes set it. */
interface SocketEnv {
  /** Deno's `ServeHandlerInfo`. */
  readonly remoteAddr?: { readonly hostname?: string };
  /** Bun's `Server`. */
  readonly requestIP?: (request: Request) => { readonly address: string } | null;
  /** The bindings of `@hono/node-server`. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/**
 * Extracts the client's IP address in canonical form: that of the socket's peer, or with
 * `useTrustedProxy` the one that the proxies report. `undefined` without a TCP socket: on an edge
 * runtime, on a Unix socket or in a test.
 */
export function clientIp(c: Context): string | undefined {
  const trusted = trustedSlot.get(c);
  return trusted ? trusted.ip : socketIp(c);
}

/** Checks whether the address of a client is read from what trusted proxies report. */
export function trustsProxies(c: Context): boolean {
  return trustedSlot.get(c) !== undefined;
}

/** Options of `app.useTrustedProxy()`. */
export interface TrustedProxyOptions {
  /**
   * The number of proxies that every request passes. Each adds the address of its peer to
   * `X-Forwarded-For`. A client that can bypass them can forge its address. With 0, the header is
   * ignored, as without this call.
   */
  readonly hops: number;
}

/**
 * Returns middleware that sets the client's address to the one that the outermost trusted proxy
 * has reported: the `hops`-th entry from the right of `X-Forwarded-For`. Entries further left come
 * from the client and can be forged. If an entry on the way is not an IP address, the one to its
 * right is used.
 */
export function trustedProxy({ hops }: TrustedProxyOptions): MiddlewareHandler {
  return hooked({
    before(c) {
      let ip = socketIp(c);
      const entries = c.req.header("x-forwarded-for")?.split(",") ?? [];
      for (const entry of hops === 0 ? [] : entries.slice(-hops).reverse()) {
        const forwarded = parseIp(withoutPort(entry.trim()));
        if (forwarded === undefined) break;
        ip = forwarded;
      }
      if (hops > 0) trustedSlot.set(c, { ip });
    },
  });
}

/**
 * Returns an IP address in its canonical form, or `undefined` for anything else: dotted decimal for
 * IPv4 and for IPv6 that maps it (`::ffff:192.0.2.1`), RFC 5952 without a zone for other IPv6.
 */
export function parseIp(text: string): string | undefined {
  const ipv4 = IPV4.exec(text)?.[1];
  if (ipv4 !== undefined) return ipv4;
  // Bun's URL parser accepts a single colon at the end, which no address has
  const address = /^([\da-f:.]{0,43}(?:::|[\da-f]))(?:%[\w.-]+)?$/i.exec(text)?.[1];
  const canonical = address && URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  return canonical ? unmapped(canonical) : undefined;
}

/**
 * Returns the network that one client controls: an IPv4 address itself, or the /64 network
 * of an IPv6 address, in which every host can choose among 2^64 addresses. The address has
 * to be canonical.
 */
export function networkOf(ip: string): string {
  if (!ip.includes(":")) return ip;
  const [left, right] = ip.split("::").map((half) => half === "" ? [] : half.split(":"));
  const groups = [...left ?? [], ...zeros(8 - (left?.length ?? 0) - (right?.length ?? 0))];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Returns the address of the socket's peer. */
function socketIp(c: Context): string | undefined {
  // `env` is untyped: the server of the runtime passes it to `fetch`
  const env = c.env as SocketEnv | undefined;
  const address = env?.remoteAddr?.hostname ?? env?.incoming?.socket?.remoteAddress ??
    env?.requestIP?.(receivedRequest(c.req.raw))?.address;
  return address === undefined ? undefined : parseIp(address);
}

/**
 * Removes the port of `192.0.2.1:80` and `[2001:db8::1]:80`, and the brackets of `[2001:db8::1]`.
 */
function withoutPort(entry: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return ipv6 ?? ipv4 ?? entry;
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
