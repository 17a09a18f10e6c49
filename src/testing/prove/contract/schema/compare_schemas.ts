/**
 * Comparing two schemas.
 *
 * @module
 */
import { below, found, RULES, type SchemaDifference } from "../rules.ts";
import { canonicalText } from "./canonical_text.ts";
import { compareArrays } from "./compare_arrays.ts";
import { compareObjects } from "./compare_objects.ts";
import { compareNumbers, compareTexts } from "./compare_scalars.ts";
import type { Schema } from "./keywords.ts";
import type { SchemaComparison } from "./schema_comparison.ts";
import { type JsonType, type Shape, TYPES } from "./shape.ts";
import type { Shapes } from "./shapes.ts";

/**
 * Compares schemas of two documents. Differences are about the values that only one of them allows:
 * those of the base are missing, the others are new.
 */
export class SchemaComparer implements SchemaComparison {
  readonly base: Shapes;
  readonly current: Shapes;
  readonly now: number;
  readonly #found = new Map<Schema, Map<Schema, readonly SchemaDifference[]>>();
  /** The pairs that are being compared, each inside of the one before it. */
  readonly #open: (readonly [Schema, Schema])[] = [];
  /** The outermost of them that was met again. */
  #met = Infinity;

  /** Creates a comparer for schemas of two documents. */
  constructor({ base, current, now }: Pick<SchemaComparison, "base" | "current" | "now">) {
    this.base = base;
    this.current = current;
    this.now = now;
  }

  /**
   * Compares a schema with the one that it has become. A pair that is inside of itself is the same
   * if the rest is.
   */
  compare(base: Schema, current: Schema): readonly SchemaDifference[] {
    const [a, b] = [this.base.schemas.resolve(base), this.current.schemas.resolve(current)];
    const known = this.#found.get(a)?.get(b);
    if (known) return known;
    const depth = this.#open.findIndex(([one, other]) => one === a && other === b);
    if (depth !== -1) {
      this.#met = Math.min(this.#met, depth);
      return [];
    }
    const own = this.#open.push([a, b]) - 1;
    const outer = this.#met;
    this.#met = Infinity;
    const differences = this.#compare(a, b);
    this.#open.pop();
    if (this.#met >= own) { // it depends on no pair that is still open
      this.#found.set(a, (this.#found.get(a) ?? new Map()).set(b, differences));
      this.#met = outer;
    } else this.#met = Math.min(outer, this.#met);
    return differences;
  }

  #compare(base: Schema, current: Schema): readonly SchemaDifference[] {
    const [a, b] = [this.base.of(base), this.current.of(current)];
    const types = TYPES.filter((type) => a.some(isOf(type)) && b.some(isOf(type)));
    const differences = types.flatMap((type) =>
      this.#compareOfType(a.filter(isOf(type)), b.filter(isOf(type)))
    );
    return [...compareTypes(a, b), ...unique(differences)];
  }

  /** Compares the values of one type. */
  #compareOfType(base: readonly Shape[], current: readonly Shape[]): readonly SchemaDifference[] {
    const listed = this.#compareValues(base, current);
    const [olds, news] = [base, current].map((shapes) => shapes.filter(({ values }) => !values));
    if (olds!.length === 1 && news!.length === 1) {
      return [...listed, ...this.#compareShapes(olds![0]!, news![0]!)];
    }
    const type = base[0]!.type;
    const lost = olds!.flatMap((one) => {
      if (news!.length === 0) {
        const values = textOf(current.flatMap(({ values = [] }) => values));
        return [found("valuesListed", `allows only ${values}, allowed any ${type}`)];
      }
      return this.#closest(one, {
        others: news!,
        breaks: "input",
        compare: (other) => this.#compareShapes(one, other),
        areDisjoint: (other) => this.base.areDisjoint(one, other, { other: this.current }),
        otherwise: () => found("alternativeRemoved", `lost the alternative ${nameOf(one)}`),
      });
    });
    const gained = news!.flatMap((one) => {
      if (olds!.length === 0) {
        const values = textOf(base.flatMap(({ values = [] }) => values));
        return [found("valuesUnlisted", `allows any ${type}, allowed only ${values}`)];
      }
      return this.#closest(one, {
        others: olds!,
        breaks: "output",
        compare: (other) => this.#compareShapes(other, one),
        areDisjoint: (other) => this.base.areDisjoint(other, one, { other: this.current }),
        otherwise: () => found("alternativeAdded", `gained the alternative ${nameOf(one)}`),
      });
    });
    return [...listed, ...lost, ...gained];
  }

  /** Compares the listed values of a type. */
  #compareValues(base: readonly Shape[], current: readonly Shape[]): readonly SchemaDifference[] {
    const missing = (from: Side, to: Side) =>
      from.shapes.flatMap((shape) =>
        (shape.values ?? []).filter((value) => !isIncluded({ value, shape, from, to }))
      );
    const [was, is] = [{ shapes: base, of: this.base }, { shapes: current, of: this.current }];
    const [lost, gained] = [missing(was, is), missing(is, was)];
    return [
      ...lost.length > 0 ? [found("valueRemoved", `no longer allows ${textOf(lost)}`)] : [],
      ...gained.length > 0 ? [found("valueAdded", `newly allows ${textOf(gained)}`)] : [],
    ];
  }

  /** Returns the differences from the closest of several shapes, none if one includes the given. */
  #closest(
    given: Shape,
    { others, breaks, compare, areDisjoint, otherwise }: {
      readonly others: readonly Shape[];
      readonly breaks: "input" | "output";
      readonly compare: (other: Shape) => readonly SchemaDifference[];
      readonly areDisjoint: (other: Shape) => boolean;
      readonly otherwise: () => SchemaDifference;
    },
  ): readonly SchemaDifference[] {
    let closest: readonly SchemaDifference[] | undefined;
    for (const other of others) {
      if (other.type !== given.type || areDisjoint(other)) continue;
      const differences = compare(other).filter(({ rule }) => RULES[rule][breaks]);
      if (differences.length === 0) return [];
      if (closest === undefined || differences.length < closest.length) closest = differences;
    }
    return closest ? below(`(${nameOf(given)})`, closest) : [otherwise()];
  }

  #compareShapes(base: Shape, current: Shape): readonly SchemaDifference[] {
    const keywords = { base: base.keywords, current: current.keywords };
    const ofType = () => {
      if (base.type === "object") return compareObjects(keywords, this);
      if (base.type === "array") return compareArrays(keywords, this);
      return base.type === "number" ? compareNumbers(keywords) : compareTexts(keywords);
    };
    return [...ofType(), ...this.#compareNots(base, current), ...compareOthers(base, current)];
  }

  #compareNots(base: Shape, current: Shape): readonly SchemaDifference[] {
    const [olds, news] = [
      new Map(base.nots.map((not) => [this.base.text(not), not])),
      new Map(current.nots.map((not) => [this.current.text(not), not])),
    ];
    const removed = [...olds].filter(([text]) => !news.has(text));
    const added = [...news].filter(([text]) => !olds.has(text));
    if (removed.length === 0 && added.length === 0) return [];
    if (removed.length === 0) return [found("excludesMore", `excludes ${added[0]![0]}`)];
    if (added.length === 0) return [found("excludesLess", `no longer excludes ${removed[0]![0]}`)];
    const change = `excludes ${added[0]![0]}, excluded ${removed[0]![0]}`;
    const inner = removed.length === 1 && added.length === 1
      ? this.compare(removed[0]![1], added[0]![1])
      : [found("incomparable", "")];
    const isNarrower = inner.some(({ rule }) => RULES[rule].input);
    const isWider = inner.some(({ rule }) => RULES[rule].output);
    const isTolerated = inner.some(({ rule }) => !RULES[rule].input && !RULES[rule].output);
    if (isNarrower && isWider || isTolerated) return [found("incomparable", change)];
    return isNarrower || isWider ? [found(isWider ? "excludesMore" : "excludesLess", change)] : [];
  }
}

/** The shapes of one type on a side of a comparison. */
interface Side {
  readonly shapes: readonly Shape[];
  readonly of: Shapes;
}

/**
 * Checks whether a listed value of one side is of a shape of the other: for sure, or if the same
 * conditions decide on both.
 */
function isIncluded(
  { value, shape, from, to }: {
    readonly value: unknown;
    readonly shape: Shape;
    readonly from: Side;
    readonly to: Side;
  },
): boolean {
  const conditionsOf = (of: Shapes, { nots, others }: Shape) =>
    [...nots.map((not) => of.text(not)).toSorted(), ...others].join();
  const conditions = conditionsOf(from.of, shape);
  return to.shapes.some((other) => {
    const isHeld = to.of.holds(other, value);
    return isHeld || isHeld === undefined && other.values !== undefined &&
        conditionsOf(to.of, other) === conditions;
  });
}

/** Compares the types, where no value of one is allowed by both. */
function compareTypes(
  base: readonly Shape[],
  current: readonly Shape[],
): readonly SchemaDifference[] {
  const [was, is] = [base, current].map((shapes) =>
    TYPES.filter((type) => shapes.some(isOf(type)))
  );
  const change = `is ${typesOf(current)}, was ${typesOf(base)}`;
  return [
    ...was!.some((type) => !is!.includes(type)) ? [found("typeRemoved", change)] : [],
    ...is!.some((type) => !was!.includes(type)) ? [found("typeAdded", change)] : [],
  ];
}

function compareOthers(base: Shape, current: Shape): readonly SchemaDifference[] {
  const [was, is] = [base.others.join("; "), current.others.join("; ")];
  if (was === is) return [];
  return [
    found("incomparable", `cannot be compared: has ${is || "nothing"}, had ${was || "nothing"}`),
  ];
}

function isOf(type: JsonType): (shape: Shape) => boolean {
  return (shape) => shape.type === type;
}

function typesOf(shapes: readonly Shape[]): string {
  const types = TYPES.filter((type) => shapes.some(isOf(type)));
  if (types.length === 0) return "nothing";
  if (types.length === TYPES.length) return "anything";
  const isInteger = ({ type, keywords, values }: Shape) =>
    type !== "number" || keywords.type === "integer" || (values?.every(Number.isInteger) ?? false);
  const names = types.map((type) =>
    type === "number" && shapes.every(isInteger) ? "integer" : type
  );
  return names.join(" or ");
}

function textOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(", ");
}

/** Names an alternative by a member that has one value, else by its keywords. */
function nameOf({ type, keywords }: Shape): string {
  const properties = Object.entries(Object(keywords.properties));
  for (const [name, schema] of properties) {
    const { const: only, enum: listed } = Object(schema);
    const first = listed?.[0] ?? only;
    if (first !== undefined) return `${name} ${JSON.stringify(first)}`;
  }
  const names = properties.map(([name]) => name);
  return names.length > 0 ? `with ${names.join(", ")}` : type;
}

function unique(differences: readonly SchemaDifference[]): readonly SchemaDifference[] {
  return [...new Map(differences.map((each) => [canonicalText({ ...each }), each])).values()];
}
