/**
 * Schemas as alternatives of one type each.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import { canonicalText } from "./canonical_text.ts";
import { FlatSchemas } from "./flat_schema.ts";
import type { Schema } from "./keywords.ts";
import { satisfies, violates } from "./satisfies.ts";
import { type Shape, shapesOfTypes, typeOf } from "./shape.ts";

/** How shapes are compared. */
interface Disjointness {
  /** The document of the second shape; default that of the first. */
  readonly other?: Shapes;
  /** The number of schemas around them. */
  readonly depth?: number;
}

/** The shapes of the schemas of a document. */
export class Shapes {
  /** Resolves references, and merges schemas. */
  readonly schemas: FlatSchemas;
  readonly #shapes = new Map<Schema, readonly Shape[]>();
  /** The schemas whose shapes are being determined. */
  readonly #open = new Set<Schema>();
  /** Whether one of them was met again, so that only the outermost is known as a whole. */
  #isPartial = false;

  /** Creates it for a document. */
  constructor(document: unknown) {
    this.schemas = new FlatSchemas(document);
  }

  /** Returns the shapes of a schema: a value satisfies it if it is of one of them. */
  of(given: Schema): readonly Shape[] {
    const schema = this.schemas.resolve(given);
    const cached = this.#shapes.get(schema);
    if (cached) return cached;
    if (this.#open.has(schema)) { // a schema that is an alternative of itself adds nothing
      this.#isPartial = true;
      return [];
    }
    this.#open.add(schema);
    const shapes = schema === false ? [] : this.#shapesOf(schema === true ? {} : schema);
    this.#open.delete(schema);
    if (this.#open.size === 0) this.#isPartial = false;
    if (!this.#isPartial) this.#shapes.set(schema, shapes);
    return shapes;
  }

  /** Returns a text that is the same for schemas that have the same shapes. */
  text(schema: Schema): string {
    return shapeText(schema, {
      resolve: (each) => this.schemas.resolve(each),
      shapesOf: (each) => this.of(each),
    });
  }

  #textsOf(schemas: readonly Schema[]): string {
    return schemas.map((each) => this.text(each)).toSorted().join();
  }

  /** Checks whether a value is of a shape; `undefined` if that cannot be decided. */
  holds({ type, keywords, values, nots, others }: Shape, value: unknown): boolean | undefined {
    if (typeOf(value) !== type || violates(keywords, value)) return false;
    const text = canonicalText(value);
    if (values && !values.some((each) => canonicalText(each) === text)) return false;
    const excluding = nots.flatMap((not) => this.of(not)).map((each) => this.holds(each, value));
    if (excluding.includes(true)) return false;
    if (excluding.includes(undefined) || others.length > 0) return undefined;
    return values !== undefined || satisfies(keywords, value) || undefined;
  }

  /** Checks whether no value is of both shapes, of which the second can be of another document. */
  areDisjoint(a: Shape, b: Shape, { other = this, depth = 0 }: Disjointness = {}): boolean {
    if (a.type !== b.type) return true;
    if (a.values) return a.values.every((value) => other.holds(b, value) === false);
    if (b.values) return b.values.every((value) => this.holds(a, value) === false);
    if (depth > MAX_DEPTH) return false; // a shape can be inside of itself
    const [was, is] = [membersOf(a), membersOf(b)];
    return was.required.some((name) => {
      const [one, two] = [was.properties.get(name), is.properties.get(name)];
      return is.required.includes(name) && one !== undefined && two !== undefined &&
        this.#areDisjoint(one, two, { other, depth: depth + 1 });
    });
  }

  #areDisjoint(a: Schema, b: Schema, options: Disjointness = {}): boolean {
    const { other = this } = options;
    const others = other.of(b);
    return this.of(a).every((one) => others.every((two) => this.areDisjoint(one, two, options)));
  }

  #shapesOf(schema: JsonSchema): readonly Shape[] {
    const flat = this.schemas.flat(schema);
    if (flat.unions.length === 0) {
      return shapesOfTypes(flat.keywords).filter((shape) => !this.#isImpossible(shape))
        .flatMap((shape) => this.#without(flat.nots, shape))
        .map((shape) => ({ ...shape, others: flat.others }));
    }
    let alternatives: readonly Schema[] = [this.schemas.merged(flat.parts)];
    const others: string[] = [];
    const exclusive: (readonly Schema[])[] = [];
    for (const { members, isExclusive } of flat.unions) {
      if (isExclusive && !this.#areExclusive(members)) exclusive.push(members);
      if (members.length * alternatives.length > MAX_ALTERNATIVES) {
        others.push(`anyOf ${this.#textsOf(members)}`);
        continue;
      }
      alternatives = alternatives.flatMap((one) =>
        members.map((member) => this.schemas.merged([one, member]))
      );
    }
    return alternatives.flatMap((each) => this.of(each))
      .flatMap((shape) =>
        exclusive.reduce<readonly Shape[]>((left, one) => this.#once(one, left), [shape])
      )
      .map((shape) => ({
        ...shape,
        others: [...new Set([...shape.others, ...others])].toSorted(),
      }));
  }

  /** Checks whether a shape requires a member that no object can have. */
  #isImpossible(shape: Shape): boolean {
    const { properties, required } = membersOf(shape);
    return required.some((name) => {
      const member = properties.get(name);
      return member !== undefined && this.schemas.simplified(member) === false;
    });
  }

  /** Returns shapes without the values that several alternatives allow, one of which has to. */
  #once(members: readonly Schema[], shapes: readonly Shape[]): readonly Shape[] {
    const text = `oneOf ${this.#textsOf(members)}`;
    return shapes.flatMap((shape): readonly Shape[] => {
      if (!shape.values) return [{ ...shape, others: [...shape.others, text] }];
      const counts = shape.values.map((value) => {
        const held = members.map((member) =>
          this.of(member).map((each) => this.holds(each, value))
        );
        const sure = held.filter((each) => each.includes(true)).length;
        return { value, sure, isDecided: !held.some((each) => isUndecided(each)) };
      });
      const left = counts.filter(({ sure }) => sure < 2);
      if (left.length === 0) return [];
      const isDecided = left.every((each) => each.isDecided);
      const others = isDecided ? shape.others : [...shape.others, text];
      return [{ ...shape, values: left.map(({ value }) => value), others }];
    });
  }

  /** Returns a shape without the values of other schemas; none if nothing is left. */
  #without(nots: readonly Schema[], shape: Shape): readonly Shape[] {
    const { type, values } = shape;
    const own = nots.filter((not) => this.of(not).some((each) => each.type === type));
    const excluded = own.flatMap((not) => this.of(not)).filter((each) => each.type === type);
    if (values) {
      const left = values.filter((value) =>
        !excluded.some((each) => this.holds(each, value) === true)
      );
      const nots = own.filter((not) =>
        // that are not decided
        this.of(not).some((each) => left.some((value) => this.holds(each, value) === undefined))
      );
      return left.length === 0 ? [] : [{ ...shape, values: left, nots }];
    }
    return excluded.some(isWhole) ? [] : [{ ...shape, nots: [...shape.nots, ...own] }];
  }

  #areExclusive(members: readonly Schema[]): boolean {
    return members.every((a, i) => members.slice(i + 1).every((b) => this.#areDisjoint(a, b)));
  }
}

/** How many alternatives are compared. */
const MAX_ALTERNATIVES = 200;

/** How deep members that distinguish objects are looked for. */
const MAX_DEPTH = 4;

function isUndecided(held: readonly (boolean | undefined)[]): boolean {
  return held.includes(undefined) && !held.includes(true);
}

function membersOf({ keywords: { properties = {}, required = [] } }: Shape): {
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: readonly string[];
} {
  const members = Object.entries(properties as Readonly<Record<string, Schema>>);
  return { properties: new Map(members), required: required as readonly string[] };
}

/** Checks whether all values of the type are of a shape. */
function isWhole({ keywords, values, nots, others }: Shape): boolean {
  return !values && Object.keys(keywords).length === 0 && nots.length === 0 && others.length === 0;
}

/** The schemas of a document. */
interface SchemaSource {
  /** Returns what a reference names, or the schema itself. */
  readonly resolve: (schema: Schema) => Schema;
  /** Returns the shapes of a schema. */
  readonly shapesOf: (schema: Schema) => readonly Shape[];
}

/** Below this depth, schemas are written as they are: each can be inside of every other. */
const MAX_TEXT_DEPTH = 5;

/** Returns the text of a schema, inside of others. */
function shapeText(
  schema: Schema,
  source: SchemaSource,
  above: readonly Schema[] = [],
): string {
  const at = source.resolve(schema);
  const depth = above.lastIndexOf(at);
  if (depth !== -1) return `^${above.length - depth}`;
  if (above.length > MAX_TEXT_DEPTH) return JSON.stringify(at);
  const inner = (each: Schema) => shapeText(each, source, [...above, at]);
  const texts = source.shapesOf(at).flatMap(({ type, keywords, values, nots, others }) => {
    const conditions = [...nots.map(inner).toSorted(), ...others];
    if (!values) return [[type, keywordsText(keywords, inner), ...conditions].join()];
    return values.map((value) => [canonicalText(value), ...conditions].join(" "));
  });
  return `{${[...new Set(texts)].toSorted().join(" | ")}}`;
}

/** Keywords whose values are schemas, and the same as a missing one if they allow anything. */
const OF_SCHEMAS = new Set(["additionalProperties", "items", "propertyNames"]);

function keywordsText(keywords: JsonSchema, inner: (schema: Schema) => string): string {
  const anything = inner(true);
  const texts = Object.entries(keywords).flatMap(([keyword, value]) => {
    if (OF_SCHEMAS.has(keyword)) {
      const text = inner(value as Schema);
      return text === anything ? [] : [`${keyword}:${text}`];
    }
    if (keyword === "prefixItems") return [`${keyword}:${(value as Schema[]).map(inner).join()}`];
    if (keyword === "contains") return [`${keyword}:${inner(value as Schema)}`];
    if (keyword !== "properties" && keyword !== "patternProperties") {
      const isSet = keyword !== "dependentRequired" && Array.isArray(value);
      return [`${keyword}:${canonicalText(isSet ? value.toSorted() : value)}`];
    }
    const members = Object.entries(value as Readonly<Record<string, Schema>>);
    return [`${keyword}:${members.map(([name, each]) => `${name} ${inner(each)}`).toSorted()}`];
  });
  return texts.toSorted().join(";");
}
