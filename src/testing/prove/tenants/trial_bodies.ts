/**
 * Changes of bodies: values of rows of another tenant, and references to rows of the own one.
 *
 * @module
 */
import { valueAt } from "../document_keys.ts";
import type { SchemaContext } from "../request/arbitrary_value.ts";
import type { Draft } from "../request/planned_request.ts";
import type { DescribedOperation } from "../request/served_document.ts";
import { JSON_TYPE } from "../request/json_text.ts";
import { propertiesOf, type PropertyPath, withProperty } from "../request/properties.ts";
import type { RowValues } from "./row_values.ts";

/** How many values of a property are tried. */
const MAX_VALUES = 6;

/** How many times a value that can select rows is put into a body: its others may be refused. */
const ATTEMPTS = 3;

/** A change of a body. */
export interface BodyChange {
  /** How many requests have it. */
  readonly attempts: number;
  /** Returns the changed request; `undefined` if its body would not satisfy its schema. */
  readonly change: (draft: Draft) => Draft | undefined;
  /** The unique columns whose values of the owner it has: `users.email`. */
  readonly unique?: readonly string[];
}

/** What values are taken from. */
export interface Values {
  readonly values: RowValues;
  readonly context: SchemaContext;
}

/** Returns changes of bodies: each has a property with a value of a row of the owner. */
export function bodyChanges(
  operation: DescribedOperation,
  { values, context }: Values,
): readonly BodyChange[] {
  const schema = operation.body?.content?.get(JSON_TYPE);
  if (!schema) return [];
  const properties = propertiesOf(schema.schema, context.resolve);
  const names = properties.map(({ path }) => path.join("."));
  const tenant = Object.entries(values.tenant).flatMap(([name, value]) => [
    ...names.includes(name) ? [] : [{ path: [name], value }],
  ]);
  const key = names.includes("id")
    ? []
    : values.named("id").slice(0, 1).map(({ owner: [value] }) => ({ path: ["id"], value }));
  const known = properties.flatMap(({ path, isList }) => {
    const name = String(path.filter((part) => typeof part === "string").at(-1));
    const unique = values.uniqueColumns(name);
    const isKey = values.isReference(name) || unique.length > 0 || name in values.tenant;
    if (!isKey && !values.hasColumn(name)) return [];
    return values.named(name).slice(0, isKey ? MAX_VALUES : 1).flatMap(({ owner, stranger }) => {
      if (owner[0] === stranger[0]) return [];
      const attempts = isKey ? ATTEMPTS : 1;
      return [{ path, value: isList ? [owner[0]] : owner[0], unique, attempts }];
    });
  });
  const added = [...tenant, ...key].map((each) => ({ ...each, attempts: ATTEMPTS }));
  return [...known, ...added].map(({ path, value, ...rest }) => ({
    change: (draft) => changed(draft, { path, value }, schema.holds),
    ...rest,
  }));
}

/** Sets a property of a body; `undefined` if the result would not satisfy its schema. */
function changed(
  draft: Draft,
  { path, value }: { readonly path: PropertyPath; readonly value: unknown },
  holds: (value: unknown) => boolean,
): Draft | undefined {
  const { body } = draft;
  if (body?.json === undefined) return undefined;
  for (const given of [value, String(value)]) {
    const json = withProperty(body.json, path, given);
    if (holds(json)) return { ...draft, body: { ...body, json, content: JSON.stringify(json) } };
  }
  return undefined;
}

/** Lets the references of a body refer to rows of the stranger, so that they exist. */
export function ownReferences(
  draft: Draft,
  { body: described }: DescribedOperation,
  { values, context }: Values,
): Draft {
  const schema = described?.content?.get(JSON_TYPE);
  if (!schema || draft.body?.json === undefined) return draft;
  return propertiesOf(schema.schema, context.resolve).reduce((draft, { path, isList }) => {
    const name = String(path.filter((part) => typeof part === "string").at(-1));
    if (!values.isReference(name) || valueAt(draft.body?.json, path) === undefined) return draft;
    for (const { stranger: [value] } of values.named(name)) {
      const own = changed(draft, { path, value: isList ? [value] : value }, schema.holds);
      if (own) return own;
    }
    return draft;
  }, draft);
}
