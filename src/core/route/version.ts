/**
 * Versions of routes: their declaration, and how a request names one.
 *
 * @module
 */
import { isHttpToken } from "../http/http_token.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";

/** A version, several, or `""` for no version, even if the application has a default one. */
export type DeclaredVersion = string | readonly string[];

/** Options of `app.enableUriVersioning()`. */
export interface UriVersioningOptions {
  /** The version of routes without a declared version; by default their paths have no version. */
  readonly defaultVersion?: string | undefined;
}

/**
 * Options of `app.enableHeaderVersioning()`. A request for a version that its path does not
 * have is answered with 404. A route without a version answers the requests that no version of
 * its path answers.
 */
export interface HeaderVersioningOptions {
  /** The name of the header; default `API-Version`. */
  readonly header?: string | undefined;
  /** The version of a request without the header; by default such a request is refused with 400. */
  readonly defaultVersion?: string | undefined;
}

/**
 * Options of `app.enableMediaTypeVersioning()`. A request for a version that its path does not have
 * is answered with 404. A route without a version answers the requests that no version of its path
 * answers. The media type of a response has the parameter too.
 */
export interface MediaTypeVersioningOptions {
  /** The name of the parameter of the media types in `Accept`; default `v`. */
  readonly parameter?: string | undefined;
  /** The version of a request that names no version; by default it is refused with 400. */
  readonly defaultVersion?: string | undefined;
}

/** How the requests of an application name a version: in the path, a header, or a media type. */
export type Versioning =
  & { readonly defaultVersion?: string | undefined }
  & (
    | { readonly kind: "URI" }
    | { readonly kind: "header"; readonly header: string }
    | { readonly kind: "media type"; readonly parameter: string }
  );

/**
 * Returns URI versioning.
 *
 * @throws {TypeError} if an option is unknown, or the default version is invalid
 */
export function uriVersioning(options: UriVersioningOptions = {}): Versioning {
  checkOptions(options);
  const { defaultVersion } = options;
  return checked({ kind: "URI", defaultVersion }, "version");
}

/**
 * Returns header versioning.
 *
 * @throws {TypeError} if an option is unknown, or the name of the header or the default version is
 * invalid
 */
export function headerVersioning(options: HeaderVersioningOptions = {}): Versioning {
  checkOptions(options, "header");
  const { header = "API-Version", defaultVersion } = options;
  return checked({ kind: "header", header, defaultVersion }, header);
}

/**
 * Returns media type versioning.
 *
 * @throws {TypeError} if an option is unknown, or the name of the parameter or the default version
 * is invalid
 */
export function mediaTypeVersioning(options: MediaTypeVersioningOptions = {}): Versioning {
  checkOptions(options, "parameter");
  const { parameter = "v", defaultVersion } = options;
  return checked({ kind: "media type", parameter, defaultVersion }, parameter);
}

function checkOptions(options: object, ...names: readonly string[]): void {
  checkNames(options, {
    known: ["defaultVersion", ...names],
    refuse: refusing("version routes"),
  });
}

/** Returns the version in the paths of routes without a declared version, or `""`. */
export function pathVersion(versioning: Versioning | undefined): string {
  return versioning?.kind === "URI" ? versioning.defaultVersion ?? "" : "";
}

/**
 * Checks the version that a controller or a route declares.
 *
 * @throws {TypeError} if it is invalid
 */
export function checkVersion(declared: DeclaredVersion): void {
  if (declared === "") return;
  const versions = [declared].flat();
  if (versions.length === 0) throw new TypeError("version is empty");
  const wrong = versions.find((version) => typeof version !== "string" || !VERSION.test(version));
  if (wrong !== undefined) {
    throw new TypeError(
      `version ${JSON.stringify(wrong)} has other characters than A-Z a-z 0-9 . _ -`,
    );
  }
  const repeated = versions.find((version, i) => versions.indexOf(version) !== i);
  if (repeated !== undefined) throw new TypeError(`version ${repeated} is repeated`);
}

/** Returns a media type with the parameter of its version. */
export function withVersion(
  type: string,
  { parameter, version }: { readonly parameter: string; readonly version: string },
): string {
  return `${type};${parameter}=${version}`;
}

function checked(versioning: Versioning, name: string): Versioning {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot enable ${versioning.kind} versioning: ${why}`);
  };
  const { kind, defaultVersion } = versioning;
  if (!isHttpToken(name) || kind === "media type" && name.toLowerCase() === "q") {
    refuse(`the name ${JSON.stringify(name)} is invalid`);
  }
  if (defaultVersion !== undefined && !VERSION.test(defaultVersion)) {
    refuse(`the default version ${JSON.stringify(defaultVersion)} is invalid`);
  }
  return versioning;
}

/** The syntax of a version, valid in a path, a header and a media type. */
const VERSION = /^[\w.-]+$/;
