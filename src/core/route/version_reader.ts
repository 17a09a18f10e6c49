/**
 * Reads the version of a request in a header or a media type. It is loaded by the applications that
 * enable such versioning.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { parseAccept } from "hono/utils/accept";
import { type Slot, slot } from "../http/context.ts";
import type { VersionReader } from "../http/matched_route.ts";
import { PROBLEM_MEDIA_TYPE } from "../http/problem.ts";
import { type Versioning, withVersion } from "./version.ts";

/** Versioning in which several versions have the same path. */
export type NegotiatedVersioning = Exclude<Versioning, { readonly kind: "URI" }>;

/**
 * Returns the reader of the versions of an application. Of several media types in `Accept`, the
 * preferred one of those with a known version counts.
 *
 * @throws {TypeError} if no route has the default version
 */
export function versionReader(
  known: readonly string[],
  versioning: NegotiatedVersioning,
): VersionReader {
  const { kind, defaultVersion } = versioning;
  if (defaultVersion !== undefined && known.length > 0 && !known.includes(defaultVersion)) {
    throw new TypeError(
      `Cannot use ${kind} versioning: no route has the default version ${defaultVersion}`,
    );
  }
  if (versioning.kind === "header") {
    const { header } = versioning;
    return {
      read: (c) => c.req.header(header) || defaultVersion,
      vary: header,
      where: `the header ${header}`,
      varying: varying(header),
    };
  }
  const { parameter } = versioning;
  const preferred = (accept: string) => {
    const named = versionsAccepted(accept, parameter);
    return named.find((version) => known.includes(version)) ?? named[0] ?? defaultVersion;
  };
  const found: Slot<{ readonly version: string | undefined }> = slot("version");
  const read: VersionReader["read"] = (c) => { // once: a long header takes milliseconds to parse
    const { version } = found.get(c) ?? { version: preferred(c.req.header("accept") ?? "") };
    found.set(c, { version });
    return version;
  };
  return {
    read,
    vary: "Accept",
    where: `the parameter ${parameter} of a media type in Accept`,
    varying: varying("Accept"),
    typed: typed(parameter, read),
  };
}

/** Lists the versions that `Accept` names (RFC 9110 §12.5.1), the preferred ones first. */
function versionsAccepted(accept: string, parameter: string): readonly string[] {
  return parseAccept(accept).filter(({ q }) => q > 0).flatMap(({ params }) =>
    Object.entries(params).flatMap(([name, value]) =>
      name.toLowerCase() === parameter.toLowerCase() ? [value] : []
    )
  );
}

function varying(field: string): MiddlewareHandler {
  return async function varying(c, next) {
    await next();
    const fields = (c.res.headers.get("vary") ?? "").toLowerCase().split(",");
    const isSet = fields.some((other) => [field.toLowerCase(), "*"].includes(other.trim()));
    if (!isSet) c.header("vary", field, { append: true });
  };
}

function typed(parameter: string, read: VersionReader["read"]): MiddlewareHandler {
  return async function typed(c, next) {
    // prepares headers: without them, c.text leaves its type to the runtime, and Bun's is invisible
    c.header("content-type", undefined);
    await next();
    const type = c.res.headers.get("content-type");
    if (!type || type.startsWith(PROBLEM_MEDIA_TYPE)) return;
    c.header("content-type", withVersion(type, { parameter, version: read(c) ?? "" }));
  };
}
