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
import { canKeep, keep } from "./keep.ts";
import { alternativesOf, type Resolve } from "./plain_schema.ts";
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
  const bodies = [...body.content ?? []].map((content) => {
    const [mediaType, { schema, holds }] = content;
    const values = keep(valueOf(schema, context), holds, content);
    return isJsonType(mediaType)
      ? jsonOf(mediaType, values)
      : formOf(content, keep(formsOf(content, values, context), ({ isValid }) => isValid, content));
  });
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
    const [mediaType, { schema, holds }] = content;
    const wrong = violationOf(schema, context);
    if (!wrong) return [];
    const what = "the body violates its schema";
    if (isJsonType(mediaType)) {
      const values = keep(wrong, (value) => !holds(value), content);
      return [jsonOf(mediaType, values).map((body) => ({ what, body }))];
    }
    const forms = formsOf(content, wrong, context);
    const isWrong = ({ entries, isValid }: ReadForm) => entries !== undefined && !isValid;
    if (!canKeep(forms, isWrong)) return []; // as of texts that are all optional
    return [formOf(content, keep(forms, isWrong, content)).map((body) => ({ what, body }))];
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

/** Writes values out as JSON. */
function jsonOf(mediaType: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<PlannedBody> {
  const types = fc.constantFrom(mediaType, mediaType, `${mediaType}; charset=utf-8`);
  const spaces = fc.constantFrom(undefined, undefined, 2);
  return fc.tuple(values, types, spaces).map(([json, type, space]) => ({
    type,
    json,
    content: JSON.stringify(json, null, space),
  }));
}

/** A form, and whether what a server reads from it satisfies its schema. */
interface ReadForm {
  /** The fields; `undefined` for a value that a form cannot express. */
  readonly entries: readonly FormEntry[] | undefined;
  readonly isValid: boolean;
}

const MULTIPART = "multipart/form-data";

/** Writes values out as forms, which have no empty lists, and where one value can be a list. */
function formsOf(
  [mediaType, { schema, holds }]: Content,
  values: fc.Arbitrary<unknown>,
  context: SchemaContext,
): fc.Arbitrary<ReadForm> {
  const files = mediaType === MULTIPART ? filesOf(schema, context) : new Set<string>();
  const lists = listsOf(schema, context);
  return values.map((value) => {
    const entries = entriesOf(value, files);
    return { entries, isValid: entries !== undefined && holds(readForm(entries, lists)) };
  });
}

/** Returns bodies of forms; the encoder adds the boundary of `multipart/form-data`. */
function formOf([mediaType]: Content, forms: fc.Arbitrary<ReadForm>): fc.Arbitrary<PlannedBody> {
  const type = mediaType === MULTIPART ? undefined : mediaType;
  return forms.map(({ entries = [] }) => ({ type, content: entries }));
}

/** Returns what a server reads: a field that is repeated, or can only be a list, is one. */
function readForm(entries: readonly FormEntry[], lists: ReadonlySet<string>): object {
  const groups = Map.groupBy(entries, ({ name }) => name);
  return Object.fromEntries(Array.from(groups, ([name, group]) => {
    const values = group.map(({ value }) => value);
    return [name, values.length > 1 || lists.has(name) ? values : values[0]];
  }));
}

/** Returns the names of the properties that can only be lists. */
function listsOf(schema: JsonSchema, { resolve }: SchemaContext): ReadonlySet<string> {
  const isList = ([, property]: readonly [string, unknown]) => {
    const alternatives = alternativesOf(property, resolve);
    return alternatives.length > 0 && alternatives.every(({ type }) => type === "array");
  };
  return new Set(propertiesOf(schema, resolve).filter(isList).map(([name]) => name));
}

/** Returns the names of the properties that are files. */
function filesOf(schema: JsonSchema, { resolve }: SchemaContext): ReadonlySet<string> {
  const isFile = (property: unknown): boolean =>
    alternativesOf(property, resolve).some(({ contentMediaType, items }) =>
      contentMediaType === "application/octet-stream" || items !== undefined && isFile(items)
    );
  const properties = propertiesOf(schema, resolve);
  return new Set(properties.filter(([, property]) => isFile(property)).map(([name]) => name));
}

function propertiesOf(schema: JsonSchema, resolve: Resolve): readonly [string, unknown][] {
  return alternativesOf(schema, resolve).flatMap(({ properties }) =>
    isJsonSchema(properties) ? Object.entries(properties) : []
  );
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
