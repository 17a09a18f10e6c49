/**
 * Taking secrets and tokens out of what a server has said.
 *
 * @module
 */
import { REDACTED } from "../redacted.ts";

/**
 * Takes out of a text what was sent (see {@linkcode withoutSent}), the values of members and parameters
 * whose names tell of a secret, and words that look like tokens. It takes too much rather than too
 * little.
 */
export function scrub(text: string, sent: readonly string[] = []): string {
  return withoutSent(withoutSecretMembers(text), sent)
    .replaceAll(NAMED, (_, name: string, value: string) => {
      const quote = /^["']/.exec(value)?.[0] ?? "";
      return `${name}${quote}${REDACTED}${quote}`;
    })
    .replaceAll(WORD, (word) => looksLikeToken(word) ? REDACTED : word);
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

function looksLikeToken(word: string): boolean {
  if (/^eyJ[\w-]*\./.test(word)) return true; // a JWT: its header begins with {"
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

/** Makes a pattern that finds a value, each of its characters encoded in any of the ways there are. */
function pattern(value: string): string {
  return Array.from(value, (character) => {
    if (/[a-z0-9]/i.test(character)) return character;
    const forms = encodings(character).map((form) => form.replace(/[^a-z0-9]/gi, literally));
    return `(?:${forms.join("|")})`;
  }).join("");
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
    `\\${character}`,
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

function literally(character: string): string {
  return `\\u${hex(character.charCodeAt(0), 4)}`;
}
