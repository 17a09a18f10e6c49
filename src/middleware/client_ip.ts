/**
 * Tells which address a request came from.
 *
 * @module
 */
import type { Context } from "../core/http/context.ts";
import { type Slot, slot } from "../core/http/slot.ts";
import { parseIp } from "./ip_address.ts";

/** The address of the client according to trusted proxies. */
export const clientIpSlot: Slot<string> = slot("clientIp");

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
