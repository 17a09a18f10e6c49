/**
 * Removes secrets and tokens from the texts of servers and libraries, before errors and
 * logs show them.
 *
 * @module
 */
import { base64Of } from "../../platform/base64.ts";
import { REDACTED } from "../../platform/secret.ts";

/** The parts of a request that can hold secrets. */
export interface SentRequest {
  /** Its headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body; only forms are searched. */
  readonly body?: unknown;
}

/** The parameters of a request that are not secret. */
const PUBLIC_PARAMETERS =
  /^(client_assertion_type|client_id|grant_type|redirect_uri|scope|token_type_hint)$/;

/** How much of a text is searched for secrets, in characters. */
const MAX_SCRUBBED = 4096;

/** The longest text of a server in an error, in characters. */
const MAX_TEXT = 500;

/** At most this many characters can remain of a secret that the cut has shortened. */
const CUT_SECRET = 1024;

/**
 * A longer value is found by this many characters at its beginning, even if the rest is cut off.
 */
const MAX_PATTERN = 128;

/** A value may be encoded for a form within JSON within HTML. */
const MAX_ENCODINGS = 4;

const SECRET_WORDS = "token|secret|assertion|password|code";

const SECRET_NAME = new RegExp(SECRET_WORDS, "i");

/**
 * `name=value`, `"name": "value"` and `<name>value` with a name that matches
 * {@linkcode SECRET_NAME}. A list or an object extends to the end of the text. The lookbehind, and
 * the last quote, which may be missing, keep the time linear in the length of the text.
 */
const NAMED = new RegExp(
  String
    .raw`((?<![\w.-])(?=[\w.-]*(?:${SECRET_WORDS}))[\w.-]+["']?\s*[:=>]\s*)(?:(")(?:[^"\\]|\\[^])*"?|(')(?:[^'\\]|\\[^])*'?|[[{][^]*|[^\s"'&,;<>})\]]+)`,
  "gi",
);

const WORD = /[^\s"'<>(){}[\],;:=&?#|\\]+/g;

/** A key in a file (RFC 7468), whole or cut. */
const PEM = /-----BEGIN [A-Z ]+-----[^]*?(?:-----END [A-Z ]+-----|$)/g;

const ENCODED =
  /\\+u([0-9a-f]{4})|((?:%[0-9a-f]{2})+)|&#(\d{1,6});|&#x([0-9a-f]{1,5});|&(amp|lt|gt|quot|apos);|\\+|\+/gi;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/**
 * Lists the secrets of a request: the parameters of its form that are not known to be public, and
 * its credentials (RFC 6750 §2.1, RFC 7617). Each is listed as it is and in Base64, alone and as
 * the password of the client.
 */
export function sentSecrets({ headers, body }: SentRequest): readonly string[] {
  const form = body instanceof URLSearchParams ? body : new URLSearchParams();
  const [, scheme = "", credentials = ""] = /^(\S+) (.*)$/.exec(headers.authorization ?? "") ?? [];
  const password = scheme === "Basic" ? atob(credentials).split(":")[1] ?? "" : "";
  const parameters = [...form].filter(([name]) => !PUBLIC_PARAMETERS.test(name));
  const secrets = [...parameters.map(([, value]) => value), credentials, password];
  // a password is form-encoded (RFC 6749 §2.3.1)
  secrets.push(new URLSearchParams(`p=${password}`).get("p") ?? "");
  const clientId = form.get("client_id") ?? "";
  return secrets.filter((secret) => secret !== "").flatMap((secret) => [
    secret,
    ...base64(secret),
    ...base64(`${clientId}:${secret}`),
  ]);
}

/** Returns the beginning of a text, at most 500 characters, as {@linkcode scrub} leaves it. */
export function scrubBeginning(text: string, sent: readonly string[]): string {
  const scrubbed = scrub(text.slice(0, MAX_SCRUBBED), sent);
  const whole = text.length > MAX_SCRUBBED ? scrubbed.slice(0, -CUT_SECRET) : scrubbed;
  return whole.slice(0, MAX_TEXT);
}

/**
 * Removes from a text the values that were sent (see {@linkcode withoutSent}), the values of
 * members and parameters with the name of a secret, and words that look like tokens. It removes too
 * much rather than too little.
 */
export function scrub(text: string, sent: readonly string[] = []): string {
  return withoutSent(withoutSecretMembers(text).replaceAll(PEM, REDACTED), sent)
    .replaceAll(NAMED, `$1$2$3${REDACTED}$2$3`)
    .replaceAll(WORD, (word) => looksLikeToken(word) ? REDACTED : word);
}

/**
 * Removes from a text the values that were sent, however they are encoded there; the rest of a text
 * with such a value is decoded. Values under 8 characters are removed as whole words only:
 * otherwise `code` would be found in `bad_verification_code`.
 */
export function withoutSent(text: string, sent: readonly string[]): string {
  const values = sent.map(decoded).filter((value) => value !== "");
  if (values.length === 0) return text;
  const longestFirst = values.sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(patternOf).join("|"), "gi");
  const plain = decoded(text);
  const scrubbed = plain.replaceAll(pattern, REDACTED);
  return scrubbed === plain ? text : scrubbed;
}

function patternOf(value: string): string {
  const literal = value.slice(0, MAX_PATTERN).replaceAll(
    /\W/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  if (value.length < 8) return `(?<!\\w)${literal}(?!\\w)`;
  return `${literal}[^]{0,${Math.max(0, value.length - MAX_PATTERN)}}`;
}

/**
 * Decodes URLs, forms, JSON and HTML. Backslashes are dropped, and `+` and a space are the same.
 */
function decoded(text: string): string {
  let encoded = text;
  for (let i = 0; i < MAX_ENCODINGS; i++) {
    const once = encoded.replaceAll(ENCODED, (match, ...[unit, bytes, decimal, hex, entity]) => {
      if (unit) return String.fromCharCode(parseInt(unit, 16));
      if (bytes) return utf8(bytes);
      if (decimal ?? hex) {
        return String.fromCodePoint(decimal ? Number(decimal) : parseInt(hex, 16));
      }
      return ENTITIES[entity?.toLowerCase()] ?? (match === "+" ? " " : "");
    });
    if (once === encoded) break;
    encoded = once;
  }
  return encoded;
}

function utf8(percentEncoded: string): string {
  const bytes = percentEncoded.slice(1).split("%").map((hex) => parseInt(hex, 16));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Returns a text in both alphabets of Base64 (RFC 4648 §4 and §5), without padding. */
function base64(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  const encoded = base64Of(bytes);
  const unpadded = encoded.replace(/=+$/, "");
  return [unpadded, unpadded.replaceAll("+", "-").replaceAll("/", "_")];
}

function looksLikeToken(word: string): boolean {
  if (/^eyJ[\w-]*\./.test(word)) return true; // a JWT: its header begins with {"
  const base64 = word.match(/[A-Za-z0-9+/]{32,}/g) ?? [];
  if (base64.some((run) => /\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run))) return true;
  const runs = word.match(/[\w~+%-]{20,}/g) ?? [];
  return runs.some((run) =>
    /\d/.test(run) || run.length >= 32 && /[a-z]/.test(run) && /[A-Z]/.test(run)
  );
}

function withoutSecretMembers(text: string): string {
  try {
    return JSON.stringify(
      JSON.parse(text),
      (name, value: unknown) => SECRET_NAME.test(name) ? REDACTED : value,
    );
  } catch {
    return text; // not JSON, or nested too deep
  }
}
