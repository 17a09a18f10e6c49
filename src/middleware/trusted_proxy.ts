/**
 * Reads the client's address from the proxies in front of the application.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { clientIpSlot, socketIp } from "./client_ip.ts";
import { parseIp } from "./ip_address.ts";

/** Which proxies are believed. */
export interface TrustedProxyOptions {
  /**
   * How many proxies every request passes, each of which adds its peer to `X-Forwarded-For`. A
   * client that can go round them can forge its address.
   */
  readonly hops: number;
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
