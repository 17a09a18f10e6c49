/**
 * The callback of a login.
 *
 * @module
 */
import { equalInConstantTime } from "../../platform/secret.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { readGrantError } from "./exchange.ts";

/** A received callback: its URL, its query, or the body of a `form_post`. */
export type Callback = string | URL | URLSearchParams;

/** What a callback must match. */
export interface CallbackExpectations {
  /** The `state` that was sent. */
  readonly state: string;
  /** The identifier of the server, if known. */
  readonly issuer: string | undefined;
  /** Whether every callback of the server has an `iss`. */
  readonly issParameterSupported: boolean;
}

/** The parameters of a callback (RFC 6749 §4.1.2, RFC 9207 §2). */
const PARAMETERS = ["state", "iss", "error", "error_description", "error_uri", "code"] as const;

/**
 * Returns the code of a callback with the expected state and issuer.
 *
 * @throws {OAuth2Error} `Validation` if it does not match or is malformed; otherwise `Grant` if the
 * server or the user refuses
 * @throws {TypeError} if the expected state is not a string
 */
export function readCallback(callback: Callback, expected: CallbackExpectations): string {
  const parameters = parametersOf(callback);
  const values = Object.fromEntries(PARAMETERS.map((name) => [name, single(parameters, name)]));
  checkState(values.state, expected.state);
  checkIssuer(values.iss, expected);
  if (values.error !== undefined) throw refused(values, expected.state);
  return values.code || fail("it has no code");
}

function checkState(state: string | undefined, expected: string): void {
  if (typeof expected !== "string") {
    throw new TypeError("Cannot accept callback: the expected state is not a string");
  }
  if (expected === "") fail("the expected state is empty");
  if (state === undefined) fail("it has no state");
  else if (!equalInConstantTime(state, expected)) fail("its state does not match");
}

/** Without a configured issuer there is nothing to compare (RFC 9207 §2.4). */
function checkIssuer(
  iss: string | undefined,
  { issuer, issParameterSupported }: CallbackExpectations,
): void {
  if (issuer === undefined) return;
  if (iss === undefined && issParameterSupported) fail("it has no iss");
  if (iss !== undefined && iss !== issuer) fail("its iss does not match");
}

function refused(values: Readonly<Record<string, string | undefined>>, state: string): OAuth2Error {
  const grant = readGrantError(values, [state]);
  if (!grant) return invalid("its error is malformed");
  const reason = /^[\w.-]{1,64}$/.test(grant.error) ? grant.error : "an unusual error";
  const message = `Cannot accept callback: the server refused with ${reason}`;
  return new OAuth2Error({ code: "Grant", grant }, message);
}

function parametersOf(callback: Callback): URLSearchParams {
  if (callback instanceof URLSearchParams) return callback;
  if (callback instanceof URL) return callback.searchParams;
  if (typeof callback !== "string") {
    throw new TypeError("Cannot accept callback: it is not a URL, query or form");
  }
  const [beforeFragment = ""] = callback.split("#");
  const question = beforeFragment.indexOf("?");
  if (question === -1 && URL.parse(beforeFragment) !== null) return new URLSearchParams();
  return new URLSearchParams(beforeFragment.slice(question + 1));
}

/** The longest parameter in characters. */
const MAX_LENGTH = 4096;

/** Returns the value of a parameter, which must not be repeated (RFC 6749 §3.1). */
function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  if (values.some((value) => value.length > MAX_LENGTH)) fail(`its ${name} is too long`);
  return values.length > 1 ? fail(`it has ${name} more than once`) : values[0];
}

function fail(why: string): never {
  throw invalid(why);
}

function invalid(why: string): OAuth2Error {
  return new OAuth2Error({ code: "Validation" }, `Cannot accept callback: ${why}`);
}
