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
  /** The status; 200 where nothing is said. */
  readonly status?: number;
  /** The body: data, a text, or `undefined` where there is none. */
  readonly answer?: unknown;
}
