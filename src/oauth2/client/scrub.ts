/**
 * Taking secrets and tokens out of what a server has said.
 *
 * @module
 */
import { REDACTED } from "../../platform/secret.ts";

/**
 * Takes out of a text what was sent (see {@linkcode withoutSent}), the values of members and parameters
 * whose names tell of a secret, and words that look like tokens. It takes too much rather than too
 * little.
 */
export function scrub(text: string, sent: readonly string[] = []): string {
  return withoutSent(withoutSecretMembers(text).replaceAll(PEM, REDACTED), sent)
    .replaceAll(NAMED, (_, name: string, value: string) => {
      const quote = /^["']/.exec(value)?.[0] ?? "";
      return `${name}${quote}${REDACTED}${quote}`;
    })
    .replaceAll(WORD, (word) => looksLikeToken(word) ? REDACTED : word);
}

/** How much of a text is looked through for secrets. */
const MAX_SCRUBBED = 4096;

/** The longest text of a server's that is passed on, in characters. */
const MAX_TEXT = 500;

/** What may be left of a secret that was cut, however it is encoded. */
const CUT_SECRET = 1024;

/** Gives the beginning of a text, at most 500 characters, as {@linkcode scrub} leaves it. */
export function scrubBeginning(text: string, sent: readonly string[]): string {
  const scrubbed = scrub(text.slice(0, MAX_SCRUBBED), sent);
  const whole = text.length > MAX_SCRUBBED ? scrubbed.slice(0, -CUT_SECRET) : scrubbed;
  return whole.slice(0, MAX_TEXT);
}

/** The longest beginning of a value that is looked for, with all that follows it. */
const MAX_PATTERN = 128;

/**
 * Takes out of a text what was sent, whichever way it is encoded there. Values under 8 characters are
 * taken out as whole words only: `code` would otherwise be found in `bad_verification_code`. One that is
 * very long is known by its beginning.
 */
export function withoutSent(text: string, sent: readonly string[]): string {
  return sent.filter((value) => value !== "")
    .sort((a, b) => b.length - a.length)
    .reduce((rest, value) => rest.replaceAll(new RegExp(patternOf(value), "gi"), REDACTED), text);
}

function patternOf(value: string): string {
  if (value.length < 8) return `(?<!\\w)${pattern(value)}(?!\\w)`;
  const beginning = pattern(value.slice(0, MAX_PATTERN));
  return value.length > MAX_PATTERN ? `${beginning}[^\\s"'<>,;&]*` : beginning;
}

const SECRET_NAME = /token|secret|assertion|password|code/i;

/**
 * `name=value`, `"name": "value"` and `<name>value`, with a name that {@linkcode SECRET_NAME} tells. A
 * list or an object runs to the end of the text. The lookbehind and the last quote, which may be
 * missing, keep the time linear in the length of the text.
 */
const NAMED =
  /((?<![\w.-])(?=[\w.-]*(?:token|secret|assertion|password|code))[\w.-]+["']?\s*[:=>]\s*)("(?:[^"\\]|\\[^])*"?|'(?:[^'\\]|\\[^])*'?|[[{][^]*|[^\s"'&,;<>})\]]+)/gi;

const WORD = /[^\s"'<>(){}[\],;:=&?#|\\]+/g;

/** A key as it stands in a file (RFC 7468), whole or cut. */
const PEM = /-----BEGIN [A-Z ]+-----[^]*?(?:-----END [A-Z ]+-----|$)/g;

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
    return text; // no JSON, or nested too deep
  }
}

/**
 * Makes a pattern that finds a value, each of its characters encoded in any of the ways there are. A run
 * of backslashes is one part: to try whether each of them is doubled would take for ever.
 */
function pattern(value: string): string {
  const parts = value.match(/\\+|[^\\]+/g) ?? [];
  return parts.map((part, i) => {
    if (part.startsWith("\\")) return BACKSLASHES;
    const [first = "", ...rest] = Array.from(part);
    return anyForm(first, { isEscapable: i === 0 }) + rest.map((each) => anyForm(each)).join("");
  }).join("");
}

const BACKSLASHES = String.raw`(?:\\|%5c|\\u005c|&#92;|&#x5c;)+`;

function anyForm(character: string, { isEscapable = true } = {}): string {
  if (/[a-z0-9]/i.test(character)) return character;
  const forms = encodings(character).map((form) => form.replace(/[^a-z0-9]/gi, literally));
  if (isEscapable) forms.push(literally("\\") + literally(character));
  return `(?:${forms.join("|")})`;
}

const HTML_NAMES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** Gives a character as itself and as URLs, forms, JSON and HTML write it. */
function encodings(character: string): readonly string[] {
  const bytes = new TextEncoder().encode(character);
  const units = character.split("").map((unit) => unit.charCodeAt(0));
  const codePoint = character.codePointAt(0) ?? 0;
  return [
    character,
    Array.from(bytes, (byte) => `%${hex(byte, 2)}`).join(""),
    units.map((unit) => `\\u${hex(unit, 4)}`).join(""),
    `&#${codePoint};`,
    `&#x${hex(codePoint, 1)};`,
    ...(character === " " ? ["+"] : []),
    ...(HTML_NAMES[character] ? [`&${HTML_NAMES[character]};`] : []),
  ];
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}

/** Gives what stands for a character in a pattern. */
function literally(character: string): string {
  return character.split("").map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`).join("");
}
