/**
 * The order in which a request passes what an application has installed.
 *
 * @module
 */
import type { Install } from "../core/module/assembly.ts";

/**
 * The order in which a request passes what an application has installed, whatever the order of the
 * calls that installed it: so that a 429 or a 503 still has an id, a log line and CORS headers, and no
 * token is verified of a request that is over a limit. `use` is what `app.use()` added, in the order of
 * the calls; `endpoints` are health, metrics and the OpenAPI document with its page, which no rate limit
 * touches; `docs` keeps what middleware sets from that page.
 */
export const MIDDLEWARE_ORDER = [
  "trustedProxy",
  "requestId",
  "requestTracing",
  "metrics",
  "docs",
  "use",
  "endpoints",
  "rateLimit",
  "authn",
  "oauth2",
  "callerRateLimit",
  "routes",
] as const;

/** A place in the order; the routes come by themselves. */
export type Slot = Exclude<typeof MIDDLEWARE_ORDER[number], "routes">;

/** What an application has installed so far. */
export class Installed {
  readonly #slots = new Map<string, Map<unknown, Install>>();

  /** Adds to a slot; what stands there under the same key is replaced. */
  add(slot: Slot, install: Install, key: unknown = install): void {
    const held = this.#slots.get(slot) ?? new Map();
    this.#slots.set(slot, held.set(key, install));
  }

  /** Tells whether anything is in a slot. */
  has(slot: Slot): boolean {
    return this.#slots.has(slot);
  }

  /** Gives everything in the order of {@linkcode MIDDLEWARE_ORDER}. */
  inOrder(): readonly Install[] {
    return MIDDLEWARE_ORDER.flatMap((slot) => [...this.#slots.get(slot)?.values() ?? []]);
  }
}
