/**
 * Requests that are right.
 *
 * @module
 */
import type { RequestOptions } from "../../../mod.ts";

/** A request that is right, and its answer. */
export interface GoodRequest {
  readonly operationId: string;
  readonly path: string;
  readonly init?: RequestOptions;
  /** The status; 200 by default. */
  readonly status?: number;
  /** The body: data, a text, or `undefined` for no body. */
  readonly answer?: unknown;
}
