/** Kinds of what is sent as text: parameters of paths, queries, headers and fields of forms. */
import fc from "fast-check";
import * as v from "valibot";
import { z } from "zod";
import {
  BIGINTS,
  BOOLEANS,
  CHOICES,
  defaultOf,
  INTEGERS,
  type Kind,
  listOf,
  optionalOf,
  textsOf,
  TIMESTAMPS,
} from "./kind.ts";

/** What means something in URLs, forms and headers. */
const UNITS = [..." %/+&=#?;,:'\"<\\.\u0000\u007f", "é", "名", "🙂", "\u2028"];

/** Well-formed text: a URL cannot contain half of a surrogate pair. */
const TEXT: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ maxLength: 12, unit: "binary" }),
  fc.string({ maxLength: 12, unit: fc.constantFrom(...UNITS) }),
);

/** A segment that a URL resolves, and the client refuses. */
const DOTS = /^(?:\.|%2e){1,2}$/i;

const PLAIN = [INTEGERS, BIGINTS, BOOLEANS, CHOICES, TIMESTAMPS];

/** Kinds of parameters of paths. */
export const PARAM_KINDS: readonly Kind[] = [
  textsOf(TEXT.filter((text) => text !== "" && !DOTS.test(text))),
  ...PLAIN.map(({ wrong, ...kind }) => ({
    ...kind,
    ...wrong && { wrong: wrong.filter((value) => value !== "") }, // another path
  })),
];

/** The rest of a path. */
export const WILDCARD_KIND: Kind = textsOf(
  TEXT.filter((text) => text !== "" && !text.split("/").some((part) => DOTS.test(part))),
);

/** Kinds of headers: the runtimes differ in what they make of other characters. */
export const HEADER_KINDS: readonly Kind[] = withOptional([
  textsOf(fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/)),
  ...PLAIN.map(({ wrong, ...kind }) => ({
    ...kind,
    ...wrong && { wrong: wrong.filter((value) => value !== "1 ") }, // spaces are cut off
  })),
]);

/** Kinds of the members of a query. */
export const QUERY_KINDS: readonly Kind[] = withLists([textsOf(TEXT), ...PLAIN]);

/** Kinds of the fields of a form. */
export const FORM_KINDS: readonly Kind[] = withLists([textsOf(TEXT), ...PLAIN]);

/** Files: Bun's parser of forms takes their type from their name. */
const FILES: fc.Arbitrary<File> = fc.record({
  bytes: fc.uint8Array({ maxLength: 40 }),
  named: fc.constantFrom(
    ["cat.txt", "text/plain"],
    ["a b.png", "image/png"],
    ["ü.json", "application/json"],
  ),
}).map(({ bytes, named: [name = "", type = ""] }) =>
  new File([bytes as Uint8Array<ArrayBuffer>], name, { type })
);

const FILE: Kind = {
  name: "file",
  valibot: v.file(),
  zod: z.instanceof(File),
  samples: FILES.map((file) => ({ sent: file, received: file })),
  wrong: fc.constantFrom("", "no file"),
};

/**
 * Kinds of the fields of a multipart form, whose line ends are CRLF
 * (https://html.spec.whatwg.org/#multipart-form-data).
 */
export const MULTIPART_KINDS: readonly Kind[] = [
  ...withLists([textsOf(TEXT.map((text) => text.replaceAll(/[\r\n]/g, "-"))), ...PLAIN]),
  ...withLists([FILE]),
];

function withLists(kinds: readonly Kind[]): readonly Kind[] {
  const lists = kinds.map((kind) => listOf(kind, { minLength: 1 }));
  const optional = lists.map((list) => optionalOf(list, [undefined, []]));
  return [...withOptional(kinds), ...lists, ...optional];
}

function withOptional(kinds: readonly Kind[]): readonly Kind[] {
  const texts = kinds.filter(({ name }) => name === "text");
  return [...kinds, ...kinds.map((kind) => optionalOf(kind)), ...texts.map(defaultOf)];
}
