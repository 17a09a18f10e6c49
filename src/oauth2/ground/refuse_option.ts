/**
 * The error of an invalid option.
 *
 * @module
 */
import { OAuth2Error } from "./errors.ts";

/**
 * Refuses an option.
 *
 * @throws {OAuth2Error} `InvalidConfig` with its name and the reason, which must not contain a
 * secret
 */
export function refuseOption(name: string, why: string, cause?: unknown): never {
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot use ${name}: ${why}`, { cause });
}
