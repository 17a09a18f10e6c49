/**
 * Decodes HTML forms, after their fields are counted. It is loaded by the first form.
 *
 * @module
 */
import { type BodyData, parseBody } from "hono/utils/body";
import type { Context } from "./context.ts";
import { BadRequestException, PayloadTooLargeException } from "./http_exception.ts";

/** The largest number of fields of a form; parsing ten thousands of them takes seconds. */
const MAX_FIELDS = 1000;

/** The only parameter `boundary` of a content type, of at most 70 characters (RFC 2046 §5.1.1). */
const BOUNDARY =
  /^(?:(?!boundary=).)*;\s*boundary=("?)([^\s";\\]{1,70})\1\s*(?:;(?!.*boundary=)|$)/i;

/**
 * Decodes a form. Repeated fields become arrays; files are `File` objects.
 *
 * @throws {PayloadTooLargeException} 413 if it has more than 1000 fields
 * @throws {BadRequestException} 400 if it is invalid
 */
export async function decodeForm(
  c: Context,
  bytes: ArrayBuffer,
): Promise<BodyData<{ all: true }>> {
  const type = c.req.header("content-type") ?? "";
  const isMultipart = /^\s*multipart/i.test(type);
  const boundary = BOUNDARY.exec(type)?.[2];
  if (isMultipart && boundary === undefined) throw invalid();
  const separators = isMultipart ? countOf(`--${boundary}`, bytes) - 1 : countOf("&", bytes);
  // the last delimiter of a multipart form ends it
  if (separators + (isMultipart ? 0 : 1) > MAX_FIELDS) {
    throw new PayloadTooLargeException(`The form has more than ${MAX_FIELDS} fields`);
  }
  // Deno accepts one that was cut off (RFC 2046 §5.1.1)
  if (isMultipart && countOf(`--${boundary}--`, bytes) === 0) throw invalid();
  // with the boundary that was counted, whatever the parser would read from the header
  const contentType = isMultipart ? `multipart/form-data; boundary="${boundary}"` : type;
  const headers = { "content-type": contentType };
  try {
    const form = new Request("http://localhost", { method: "POST", body: bytes, headers });
    return await parseBody(form, { all: true });
  } catch (cause) {
    throw invalid(cause);
  }
}

function invalid(cause?: unknown): BadRequestException {
  return new BadRequestException("The body is not a valid form", { cause });
}

/**
 * Counts the occurrences of an ASCII text, up to two more than the fields can have. Each byte is
 * read once, whatever the client has chosen as its boundary (Knuth, Morris and Pratt).
 */
function countOf(text: string, buffer: ArrayBuffer): number {
  const wanted = new TextEncoder().encode(text);
  const shorter = [0]; // the next shorter match after each one
  const extend = (matched: number, byte: number): number => {
    while (matched > 0 && wanted[matched] !== byte) matched = shorter[matched - 1] ?? 0;
    return wanted[matched] === byte ? matched + 1 : 0;
  };
  for (const byte of wanted.subarray(1)) shorter.push(extend(shorter.at(-1) ?? 0, byte));
  let [count, matched] = [0, 0];
  for (const byte of new Uint8Array(buffer)) {
    matched = extend(matched, byte);
    if (matched < wanted.length) continue;
    if (++count > MAX_FIELDS + 1) break;
    matched = 0;
  }
  return count;
}
