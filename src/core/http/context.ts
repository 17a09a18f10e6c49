/**
 * The context of a request, and typed values on it.
 *
 * @module
 */
import type { Context as HonoContext } from "hono";

/**
 * Hono's context of a request: the request (`c.req`), the variables set by middleware (`c.get`),
 * and the methods that create a response (`c.json`, `c.text`, `c.header`, …).
 */
export type Context = HonoContext;

/** A typed value that each request can have; see {@linkcode slot}. */
export interface Slot<T> {
  /** Returns the value of a request, or `undefined` if nothing has set it. */
  get(c: Context): T | undefined;
  /** Sets the value of a request; `undefined` removes it. */
  set(c: Context, value: T | undefined): void;
}

/** Options of {@linkcode slot}. */
export interface SlotOptions {
  /**
   * The Hono variable (`c.get(key)`) that holds the value; by default a new symbol, which no
   * other middleware can read or overwrite.
   */
  readonly key?: string | symbol;
}

/**
 * Creates a typed place for a value on the context of each request. Code that reads or writes
 * the value imports the slot, so its type is checked and its name cannot collide with that of
 * another middleware.
 *
 * @example
 * ```ts
 * import { controller, FwFactory, module, route, slot } from "@fw/fw";
 *
 * const tenant = slot<string>("tenant");
 *
 * class TenantController extends controller() {
 *   show = route.get("/", (_, c) => ({ tenant: tenant.get(c) }));
 * }
 * const app = await FwFactory.create(module({ controllers: [TenantController] }));
 * app.use((c, next) => {
 *   tenant.set(c, c.req.header("x-tenant"));
 *   return next();
 * });
 * const response = await app.request("/", { headers: { "x-tenant": "acme" } });
 * console.assert((await response.json()).tenant === "acme");
 * ```
 */
export function slot<T>(name: string, { key = Symbol(name) }: SlotOptions = {}): Slot<T> {
  return {
    get: (c) => c.get(key),
    set: (c, value) => c.set(key, value),
  };
}

/**
 * The id of the request. It is also Hono's variable `requestId`, which other middleware reads, and
 * which `hono/request-id` sets.
 */
export const requestIdSlot: Slot<string> = slot("requestId", { key: "requestId" });
