/**
 * Strict parsing of signed tokens in the compact serialization (RFC 7515 §7.1).
 *
 * @module
 */
import * as base64url from "jose/base64url";
import { deepFreeze, isJsonObject, type JsonObject } from "../../platform/json_object.ts";
import { OAuth2Error } from "../ground/errors.ts";

/** The parts of a signed token; none of them is verified. */
export interface CompactJws {
  /** The protected header. */
  readonly protected: ProtectedHeader;
  /** The signed input, in ASCII. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
  /** The signed claims. */
  readonly payload: Uint8Array<ArrayBuffer>;
  /** The signature. */
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** A protected header, encoded and decoded. */
export interface ProtectedHeader {
  /** The header in Base64url. */
  readonly encoded: string;
  /** The decoded header, frozen. */
  readonly header: JwsHeader;
}

/** The protected header of a token. Keys in it, or at URLs in it, are never used. */
export interface JwsHeader {
  /** The algorithm of the signature. */
  readonly alg: string;
  /** The identifier of the key that signed the token. */
  readonly kid: string;
  /** The media type of the token. */
  readonly typ?: unknown;
  /** Any other parameter. */
  readonly [parameter: string]: unknown;
}

/** The maximum length of a token in characters. */
export const MAX_TOKEN_LENGTH: number = 16 * 1024;

const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/**
 * The last characters of Base64url with unused bits of 0, for two and three characters at the end.
 */
const CANONICAL_END: Readonly<Record<number, string>> = { 2: "AQgw", 3: "AEIMQUYcgkosw048" };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses a token. If its header equals that of `known`, it is not decoded again.
 *
 * @throws {OAuth2Error} `Validation` if the token is longer than 16 384 characters, is not three
 * parts of canonical Base64url without padding (RFC 7515 §2), or has a header that is not a JSON
 * object, lacks `alg` or `kid`, or has `crit` or `b64`: no extensions are supported
 */
export function readCompactJws(token: string, known?: ProtectedHeader): CompactJws {
  if (typeof token !== "string") throw malformed("it is not a string");
  if (token.length > MAX_TOKEN_LENGTH) {
    throw malformed(`it is longer than ${MAX_TOKEN_LENGTH} characters`);
  }
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
 * Parses a JSON object.
 *
 * @throws {OAuth2Error} `Validation` if it is not a JSON object in UTF-8
 */
export function readJson(bytes: Uint8Array, part: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    throw malformed(`its ${part} is not JSON`);
  }
  if (isJsonObject(value)) return value;
  throw malformed(`its ${part} is not a JSON object`);
}

/** Creates the error for a malformed or unaccepted token. */
export function malformed(why: string): OAuth2Error {
  return new OAuth2Error({ code: "Validation" }, `Cannot verify token: ${why}`);
}

function decode(part: string): Uint8Array<ArrayBuffer> {
  const rest = part.length % 4;
  const isCanonical = rest === 0 || CANONICAL_END[rest]?.includes(part.charAt(part.length - 1));
  if (!isCanonical) throw malformed("its Base64url is not canonical");
  return base64url.decode(part) as Uint8Array<ArrayBuffer>; // a new buffer, so not shared
}

function readHeader(encoded: string): ProtectedHeader {
  const header = readJson(decode(encoded), "header");
  const { alg, kid } = header;
  if (typeof alg !== "string") throw malformed("its header has no alg");
  if (typeof kid !== "string" || kid === "") throw malformed("its header has no kid");
  if (Object.hasOwn(header, "crit") || Object.hasOwn(header, "b64")) {
    throw malformed("its header has an extension that is not supported");
  }
  return { encoded, header: deepFreeze({ ...header, alg, kid }) };
}
