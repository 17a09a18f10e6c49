/**
 * What the document of an application has to warn of, in its log.
 *
 * @module
 */
import { getConfig, getLogger } from "@logtape/logtape";

/** Logs warnings, if there is a log yet; tells whether. */
export function logWarnings(warnings: readonly string[]): boolean {
  if (!getConfig()) return false;
  for (const warning of warnings) getLogger(["fw", "openapi"]).warn("{warning}", { warning });
  return true;
}
