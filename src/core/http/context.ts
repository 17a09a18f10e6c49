/**
 * The context of a request.
 *
 * @module
 */
import type { Context as HonoContext } from "hono";

/**
 * Hono's context of a request: the request itself (`c.req`), what middleware has set (`c.get`), and
 * the means to make a response (`c.json`, `c.text`, `c.header`, …).
 */
export type Context = HonoContext;
