/**
 * Taking a signed token apart (RFC 7515 §7.1), and refusing what is not exactly one.
 *
 * @module
 */
import { base64url } from "jose";
import { deepFreeze, isJsonObject, type JsonObject } from "../../platform/json_object.ts";
import { OAuth2Error } from "../ground/errors.ts";

/** A signed token, taken apart; nothing of it is verified. */
export interface CompactJws {
  /** The protected header. */
  readonly protected: ProtectedHeader;
  /** What was signed, in ASCII. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
  /** The claims, as they were signed. */
  readonly payload: Uint8Array<ArrayBuffer>;
  /** The signature. */
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** A protected header, as it was sent and as it was read. */
export interface ProtectedHeader {
  /** Its Base64url. */
  readonly encoded: string;
  /** What it says, frozen. */
  readonly header: JwsHeader;
}

/** The protected header of a token. Keys that it brings or points to are never used. */
export interface JwsHeader {
  /** The algorithm of the signature. */
  readonly alg: string;
  /** The key that has signed it. */
  readonly kid: string;
  /** The media type of the token. */
  readonly typ?: unknown;
  /** Any other parameter. */
  readonly [parameter: string]: unknown;
}

/** The longest token in characters. */
const MAX_LENGTH = 16 * 1024;

const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** The last characters of Base64url whose unused bits are 0, for two and three characters at the end. */
const CANONICAL_END: Readonly<Record<number, string>> = { 2: "AQgw", 3: "AEIMQUYcgkosw048" };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Takes a token apart. A header that is the same as that of `known` is not read again.
 *
 * @throws {OAuth2Error} `Validation` if it is longer than 16 384 characters, not three parts of
 * canonical Base64url without padding (RFC 7515 §2), has a header that is no JSON object or lacks
 * `alg` or `kid`, or a `crit` or `b64` parameter: there is no extension that is understood here
 */
export function readCompactJws(token: string, known?: ProtectedHeader): CompactJws {
  if (typeof token !== "string") throw malformed("it is no string");
  if (token.length > MAX_LENGTH) throw malformed(`it is over ${MAX_LENGTH} characters`);
  const [, encoded, payload, signature] = COMPACT.exec(token) ?? [];
  if (encoded === undefined || payload === undefined || signature === undefined) {
    throw malformed("it is not three parts of Base64url");
  }
  return {
    protected: known?.encoded === encoded ? known : readHeader(encoded),
    signingInput: encoder.encode(token.slice(0, token.length - signature.length - 1)),
    payload: decode(payload),
    signature: decode(signature),
  };
}

/**
 * Reads a JSON object.
 *
 * @throws {OAuth2Error} `Validation` if it is none, or not UTF-8
 */
export function readJson(bytes: Uint8Array, part: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    throw malformed(`its ${part} is no JSON`);
  }
  if (isJsonObject(value)) return value;
  throw malformed(`its ${part} is no JSON object`);
}

/** Makes the error of a token that is not what it should be. */
export function malformed(why: string): OAuth2Error {
  return new OAuth2Error({ code: "Validation" }, `Cannot verify token: ${why}`);
}

function decode(part: string): Uint8Array<ArrayBuffer> {
  const rest = part.length % 4;
  const isCanonical = rest === 0 || CANONICAL_END[rest]?.includes(part.charAt(part.length - 1));
  if (!isCanonical) throw malformed("its Base64url is not canonical");
  return base64url.decode(part) as Uint8Array<ArrayBuffer>; // made here, so not shared
}

function readHeader(encoded: string): ProtectedHeader {
  const header = readJson(decode(encoded), "header");
  const { alg, kid } = header;
  if (typeof alg !== "string") throw malformed("its header has no alg");
  if (typeof kid !== "string" || kid === "") throw malformed("its header has no kid");
  if (Object.hasOwn(header, "crit") || Object.hasOwn(header, "b64")) {
    throw malformed("its header has an extension that must be understood");
  }
  return { encoded, header: deepFreeze({ ...header, alg, kid }) };
}
