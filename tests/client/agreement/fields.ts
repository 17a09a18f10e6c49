/** Random objects of named fields: their schema, and values of them. */
import fc from "fast-check";
import * as v from "valibot";
import { z } from "zod";
import type { Kind } from "./kind.ts";

/** A named field. */
export interface Field {
  readonly name: string;
  readonly kind: Kind;
}

/** Values of fields: what is sent, what arrives, and the names of those that are invalid. */
export interface FieldValues {
  readonly sent: Readonly<Record<string, unknown>>;
  readonly received: Readonly<Record<string, unknown>>;
  readonly wrong: readonly string[];
}

const NAMES: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^[a-z]\w{0,7}$/),
  fc.constantFrom("a b", "a.b", "ü", "0", "x[y]", "%41", "&=", "x[]"),
);

/**
 * Names of the fields of forms: one that ends with `[]` is a list, and Deno's parser of multipart
 * forms splits names at `=` and `;`.
 */
export const FORM_NAMES: fc.Arbitrary<string> = NAMES.filter((name) => !/[\]=]$/.test(name));

/** The name of a field that no schema declares. */
const MORE = "not declared";

/** Random fields of some kinds. */
export function fieldsOf(
  kinds: fc.Arbitrary<Kind>,
  { minLength = 0, names = NAMES }: {
    readonly minLength?: number;
    readonly names?: fc.Arbitrary<string>;
  } = {},
): fc.Arbitrary<readonly Field[]> {
  const field = fc.record({ name: names, kind: kinds });
  return fc.uniqueArray(field, { minLength, maxLength: 4, selector: ({ name }) => name });
}

/** Returns the kind of objects with these fields. */
export function kindOf(fields: readonly Field[]): Kind {
  const object = (schemaOf: (kind: Kind) => unknown) =>
    Object.fromEntries(fields.map(({ name, kind }) => [name, schemaOf(kind)]));
  return {
    name: `{ ${fields.map(({ name, kind }) => `${JSON.stringify(name)}: ${kind.name}`)} }`,
    valibot: v.object(object(({ valibot }) => valibot) as v.ObjectEntries),
    zod: z.object(object(({ zod }) => zod) as z.ZodRawShape),
    samples: valuesOf(fields, { isValid: true, more: MORE }),
    wrong: fc.constantFrom(null, "{}", 1),
  };
}

/** Values of fields, some of which may be invalid; `more` is the name of an undeclared field. */
export function valuesOf(
  fields: readonly Field[],
  { isValid = false, more }: { readonly isValid?: boolean; readonly more?: string } = {},
): fc.Arbitrary<FieldValues> {
  const values = fields.map(({ name, kind: { samples, wrong } }) => {
    const good = samples.map((sample) => ({ ...sample, name, isWrong: false }));
    if (isValid || !wrong) return good;
    const bad = wrong.map((sent) => ({ sent, received: undefined, name, isWrong: true }));
    return fc.oneof({ arbitrary: good, weight: 12 }, { arbitrary: bad, weight: 1 });
  });
  return fc.tuple(fc.tuple(...values), fc.boolean()).map(([values, hasMore]) => ({
    sent: {
      ...Object.fromEntries(values.map(({ name, sent }) => [name, sent])),
      ...hasMore && more && { [more]: "more" },
    },
    received: Object.fromEntries(values.map(({ name, received }) => [name, received])),
    wrong: values.filter(({ isWrong }) => isWrong).map(({ name }) => name),
  }));
}
