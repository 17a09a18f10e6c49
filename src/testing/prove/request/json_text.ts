/**
 * JSON as requests and answers have it.
 *
 * @module
 */

/** The media type of JSON (RFC 8259 §11). */
export const JSON_TYPE = "application/json";

/** Checks whether a media type is that of JSON, or of a format that is JSON (RFC 6839 §3.1). */
export function isJsonType(mediaType: string): boolean {
  return mediaType === JSON_TYPE || mediaType.endsWith("+json");
}

/** Parses JSON; returns `undefined` if the text is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
