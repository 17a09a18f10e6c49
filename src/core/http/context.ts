/**
 * The context of a request.
 *
 * @module
 */
import type { Context as HonoContext } from "hono";

/**
 * Hono's context of a request: the request (`c.req`), the variables set by middleware (`c.get`), and
 * the methods that create a response (`c.json`, `c.text`, `c.header`, …).
 */
export type Context = HonoContext;
