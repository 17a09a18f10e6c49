/**
 * The signatures of webhooks (Standard Webhooks, Signature scheme): HMAC-SHA256 of the id, the
 * time and the bytes of the body. The platform computes them beside the event loop: in JavaScript,
 * a forged body of 1 MiB would hold it up for a tenth of a second.
 *
 * @module
 */
import { base64Of } from "../../platform/base64.ts";
import { equalInConstantTime } from "../../platform/secret.ts";

/** The parts of a webhook that are signed. */
export interface SignedWebhook {
  /** The id of the webhook. */
  readonly id: string;
  /** When it was sent, in seconds since 1970. */
  readonly timestamp: string;
  /** The body. */
  readonly body: Uint8Array;
}

/** How far a timestamp is from the clock at most, in seconds. */
const TOLERANCE_S = 300;
/** How many signatures are compared: one for each secret of the sender. */
const MAX_SIGNATURES = 20;
const HMAC = { name: "HMAC", hash: "SHA-256" };
const VERSION = "v1,";
/** The length of the base64 of a SHA-256. */
const LENGTH = 44;

/** Returns the keys of secrets that are valid. */
export function keysOf(secrets: readonly string[]): Promise<readonly CryptoKey[]> {
  return Promise.all(secrets.map((secret) => {
    const raw = Uint8Array.from(atob(secret.slice("whsec_".length)), (it) => it.charCodeAt(0));
    return crypto.subtle.importKey("raw", raw, HMAC, false, ["sign"]);
  }));
}

/** Returns the signatures of a webhook, one by each key. */
export function signaturesOf(
  { id, timestamp, body }: SignedWebhook,
  keys: readonly CryptoKey[],
): Promise<readonly string[]> {
  const before = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(before.byteLength + body.byteLength);
  signed.set(before);
  signed.set(body, before.byteLength);
  return Promise.all(keys.map(async (key) => {
    const digest = await crypto.subtle.sign(HMAC, key, signed);
    return VERSION + base64Of(new Uint8Array(digest));
  }));
}

/** Checks whether a timestamp is a number of seconds that is at most 5 minutes from the clock. */
export function isRecent(timestamp: string): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) <= TOLERANCE_S;
}

/** Returns the signatures of a header that can be valid. */
export function signaturesIn(header: string): readonly string[] {
  return header.split(" ", MAX_SIGNATURES)
    .filter((each) => each.startsWith(VERSION) && each.length === VERSION.length + LENGTH);
}

/** Checks whether a signature is among those given, in a time that reveals no part of it. */
export function isAmong(signature: string, given: readonly string[]): boolean {
  return given.filter((each) => equalInConstantTime(each, signature)).length > 0;
}
