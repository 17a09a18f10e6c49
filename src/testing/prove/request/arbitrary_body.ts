/**
 * Random bodies of requests that satisfy the document, and that violate it.
 *
 * @module
 */
import fc from "fast-check";
import { isJsonSchema, type JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { type SchemaContext, valueOf } from "./arbitrary_value.ts";
import { violationOf } from "./arbitrary_violation.ts";
import { isJsonType, JSON_TYPE, parsedJson } from "./json_text.ts";
import { keep } from "./keep.ts";
import { alternativesOf } from "./plain_schema.ts";
import type { FormEntry, PlannedBody } from "./planned_request.ts";
import type { DescribedOperation, DescribedSchema } from "./served_document.ts";

type Content = readonly [mediaType: string, schema: DescribedSchema];

/** A way in which a body is wrong. */
export interface WrongBody {
  readonly what: string;
  readonly body: PlannedBody | undefined;
}

/** Bodies that satisfy an operation; `undefined` for those that may do without one. */
export function bodyOf(
  { body }: DescribedOperation,
  context: SchemaContext,
): fc.Arbitrary<PlannedBody | undefined> {
  if (!body) return fc.constant(undefined);
  const bodies = [...body.content ?? []].map((content) =>
    writtenIn(
      content,
      keep(valueOf(content[1].schema, context), content[1].holds, content),
      context,
    )
  );
  return fc.oneof(
    { arbitrary: fc.oneof(...bodies), weight: 9 },
    ...body.required ? [] : [{ arbitrary: fc.constant(undefined), weight: 1 }],
  );
}

/** Bodies that violate the schema of an operation. */
export function wrongBodyOf(
  { body }: DescribedOperation,
  context: SchemaContext,
): fc.Arbitrary<WrongBody> | undefined {
  if (!body) return undefined;
  const contents = [...body.content ?? []];
  const hasJson = contents.some(([mediaType]) => isJsonType(mediaType));
  const values = contents.flatMap((content) => {
    const wrong = violationOf(content[1].schema, context);
    if (!wrong) return [];
    const isWrong = (value: unknown) => !content[1].holds(value);
    const violations = writtenIn(content, keep(wrong, isWrong, content), context);
    return [violations.map((body) => ({ what: "the body violates its schema", body }))];
  });
  return fc.oneof(
    ...values.map((arbitrary) => ({ arbitrary, weight: 6 })),
    ...body.required ? [fc.constant({ what: "there is no body", body: undefined })] : [],
    ...hasJson ? [notJson] : [],
    anotherType,
  );
}

/** Invalid JSON (RFC 8259). */
const notJson: fc.Arbitrary<WrongBody> = fc.oneof(
  fc.constantFrom(
    ...["{", "[1,]", '{"a":1,}', "{'a':1}", "{a:1}", "nul", "NaN", "Infinity", "01", '"', '"\n"'],
    ...["undefined", '{"a":1}{"b":2}', "// no", " ", "\u0000", "<a/>", "a=1", '{"a":"\\x"}'],
  ),
  fc.string({ minLength: 1 }).filter((text) => parsedJson(text) === undefined),
  fc.constantFrom([0xff], [0x22, 0xc3, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22])
    .map((bytes) => Uint8Array.from(bytes)), // no UTF-8
  fc.constantFrom("[".repeat(5000) + "]".repeat(5000)), // deeper than anybody needs
).map((content) => ({ what: "the body is not JSON", body: { type: JSON_TYPE, content } }));

/** Bodies of another media type, charset or encoding, or without a media type. */
const anotherType: fc.Arbitrary<WrongBody> = fc.constantFrom(
  ...["text/plain", "application/xml", "application/jsonp", "text/json", "json", ""],
  ...["application/json; charset=utf-16", "application/octet-stream", "multipart/mixed"],
).map((type) => ({ what: `the body is ${type || "of no type"}`, body: { type, content: "{}" } }));

/** Writes values of a media type out; those are left out that it cannot express. */
function writtenIn(
  [mediaType, { schema }]: Content,
  values: fc.Arbitrary<unknown>,
  context: SchemaContext,
): fc.Arbitrary<PlannedBody> {
  if (isJsonType(mediaType)) {
    const types = fc.constantFrom(mediaType, mediaType, `${mediaType}; charset=utf-8`);
    const spaces = fc.constantFrom(undefined, undefined, 2);
    return fc.tuple(values, types, spaces).map(([json, type, space]) => ({
      type,
      json,
      content: JSON.stringify(json, null, space),
    }));
  }
  const isMultipart = mediaType === "multipart/form-data";
  const files = filesOf(schema, context);
  const forms = values.map((value) => entriesOf(value, isMultipart ? files : new Set()));
  const written = keep(forms, (entries) => entries !== undefined, schema);
  // the encoder adds the boundary of multipart/form-data
  return (written as fc.Arbitrary<readonly FormEntry[]>).map((content) => ({
    type: isMultipart ? undefined : mediaType,
    content,
  }));
}

/** Returns the names of the properties that are files. */
function filesOf(schema: JsonSchema, { resolve }: SchemaContext): ReadonlySet<string> {
  const properties = alternativesOf(schema, resolve).flatMap(({ properties }) =>
    isJsonSchema(properties) ? Object.entries(properties) : []
  );
  const isFile = (property: unknown): boolean =>
    alternativesOf(property, resolve).some(({ contentMediaType, items }) =>
      contentMediaType === "application/octet-stream" || items !== undefined && isFile(items)
    );
  return new Set(properties.filter(([, property]) => isFile(property)).map(([name]) => name));
}

/** Returns the fields of a form, of which an array repeats one; `undefined` of another value. */
function entriesOf(value: unknown, files: ReadonlySet<string>): readonly FormEntry[] | undefined {
  if (!isJsonSchema(value)) return undefined;
  const entries = Object.entries(value).flatMap(([name, value]) =>
    [value].flat().map((value) => ({ name, value, isFile: files.has(name) }))
  );
  const isForm = entries.every(({ name, value }) =>
    name.isWellFormed() && typeof value === "string" && value.isWellFormed() &&
    !/[\r\n\0]/.test(name + value)
  );
  return isForm ? entries as readonly FormEntry[] : undefined;
}
