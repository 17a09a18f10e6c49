/**
 * Checks endpoints of webhooks before they are added.
 *
 * @module
 */
import { UnprocessableEntityException } from "../../core/http/http_exception.ts";
import type { Refuse } from "../../platform/option_names.ts";
import { isName } from "../job_kind.ts";
import { TargetError, targetUrl } from "./target.ts";

/** The longest URL, in UTF-16 units. */
const MAX_URL = 2048;
/** The most types of an endpoint. */
const MAX_TYPES = 100;

/**
 * Returns the URL of an endpoint, a choice of its owner, as it is stored.
 *
 * @throws {UnprocessableEntityException} 422, if it is no target, or over 2048 characters long
 */
export function checkedUrl(
  url: string,
  { action, allowLocal }: { readonly action: string; readonly allowLocal: boolean },
): string {
  let href: string;
  try {
    ({ href } = targetUrl(url, { allowLocal }));
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    throw unprocessable(action, error.message);
  }
  if (href.length <= MAX_URL) return href;
  throw unprocessable(action, `its URL is longer than ${MAX_URL} characters`);
}

/** Checks the types of webhooks that an endpoint receives; `null` is all. */
export function checkTypes(types: readonly string[] | null, refuse: Refuse): void {
  if (types === null) return;
  if (!Array.isArray(types)) refuse("types is not an array");
  if (types.length > MAX_TYPES) refuse(`types has more than ${MAX_TYPES} items`);
  const wrong = types.find((type) => !isName(type));
  if (wrong !== undefined) refuse(`${JSON.stringify(wrong)} is not a type of webhooks`);
}

/** Returns the error of a choice of the owner of an endpoint. */
export function unprocessable(action: string, reason: string): UnprocessableEntityException {
  return new UnprocessableEntityException(`Cannot ${action}: ${reason}`);
}
