/**
 * Comparing the keywords of objects.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import { endingOf } from "../deprecation.ts";
import type { Pair } from "../pair.ts";
import { below, found, type SchemaDifference } from "../rules.ts";
import { compareCount } from "./compare_scalars.ts";
import { compareDefaults } from "./defaults.ts";
import { type FlatSchemas, matchedBy } from "./flat_schema.ts";
import type { Schema } from "./keywords.ts";
import type { SchemaComparison } from "./schema_comparison.ts";

/** Compares the keywords of objects. */
export function compareObjects(
  { base, current }: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const [was, is] = [propertiesOf(base), propertiesOf(current)];
  return [
    ...Object.keys(was).filter((name) => !Object.hasOwn(is, name))
      .flatMap((name) => compareRemoved({ name, base, current }, comparison)),
    ...Object.keys(is).filter((name) => !Object.hasOwn(was, name))
      .flatMap((name) => compareAdded({ name, base, current }, comparison)),
    ...Object.keys(was).filter((name) => Object.hasOwn(is, name))
      .flatMap((name) => compareKept({ name, base, current }, comparison)),
    ...compareRequired({ base, current }, comparison),
    ...compareOthers({ base, current }, comparison),
    ...comparePatterns({ base, current }, comparison),
    ...compareNames({ base, current }, comparison),
    ...compareDependents({ base, current }),
    ...compareCount("minProperties", { base, current }),
    ...compareCount("maxProperties", { base, current }),
  ];
}

/** A member of two objects. */
interface Member extends Pair<JsonSchema> {
  readonly name: string;
}

function compareRemoved(
  { name, base, current }: Member,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const was = propertiesOf(base)[name]!;
  const others = othersOf(current, { name, schemas: comparison.current.schemas });
  if (isNothing(was, comparison.base.schemas)) {
    return others === false ? [] : at(name, comparison.compare(was, others));
  }
  if (typeof others !== "boolean") return at(name, comparison.compare(was, others));
  const ending = endingOf(comparison.base.schemas.annotationsOf(was), comparison.now);
  return [found(RULE_OF_ENDING[ending.kind], `lost ${JSON.stringify(name)}${ending.text}`)];
}

const RULE_OF_ENDING = {
  none: "memberRemoved",
  ended: "memberEnded",
  early: "memberEndedEarly",
} as const;

function compareAdded(
  { name, base, current }: Member,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const is = propertiesOf(current)[name]!;
  const others = othersOf(base, { name, schemas: comparison.base.schemas });
  if (isNothing(is, comparison.current.schemas)) {
    return others === false ? [] : at(name, comparison.compare(others, is));
  }
  if (typeof others !== "boolean") return at(name, comparison.compare(others, is));
  const isRequired = requiredOf(current).includes(name);
  const change = `gained ${JSON.stringify(name)}${isRequired ? ", which is required" : ""}`;
  return [
    found(others ? "memberAdded" : "memberAddedToClosed", change),
    ...isRequired && !requiredOf(base).includes(name) ? [found("memberRequired", change)] : [],
  ];
}

function compareKept(
  { name, base, current }: Member,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const [was, is] = [propertiesOf(base)[name]!, propertiesOf(current)[name]!];
  const differences = comparison.compare(was, is);
  const isOptional = !requiredOf(base).includes(name);
  const [before, after] = [
    comparison.base.schemas.annotationsOf(was),
    comparison.current.schemas.annotationsOf(is),
  ];
  return at(name, [...differences, ...isOptional ? compareDefaults(before, after) : []]);
}

function compareRequired(
  { base, current }: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const [was, is] = [requiredOf(base), requiredOf(current)];
  const isNamed = (keywords: JsonSchema, name: string) =>
    Object.hasOwn(propertiesOf(keywords), name);
  const isAdded = (name: string) =>
    !isNamed(base, name) && isNamed(current, name) &&
    typeof othersOf(base, { name, schemas: comparison.base.schemas }) === "boolean";
  const isRemoved = (name: string) =>
    isNamed(base, name) && !isNamed(current, name) &&
    typeof othersOf(current, { name, schemas: comparison.current.schemas }) === "boolean";
  return [
    ...is.filter((name) => !was.includes(name) && !isAdded(name))
      .map((name) => found("memberRequired", `requires ${JSON.stringify(name)}`)),
    ...was.filter((name) => !is.includes(name) && !isRemoved(name))
      .map((name) => found("memberOptional", `can lack ${JSON.stringify(name)}`)),
  ];
}

/** Compares members that are not named. */
function compareOthers(
  { base, current }: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const was = unnamedOf(base, comparison.base.schemas);
  const is = unnamedOf(current, comparison.current.schemas);
  if (was === false || is === false) {
    if (was === is) return [];
    return [
      was === false
        ? found("objectOpened", "allows other members")
        : found("objectClosed", "no longer allows other members"),
    ];
  }
  return at("*", comparison.compare(was, is));
}

function comparePatterns(
  { base, current }: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const { patternProperties: was = {} } = base as { patternProperties?: Named };
  const { patternProperties: is = {} } = current as { patternProperties?: Named };
  const others = unnamedOf(base, comparison.base.schemas);
  const newOthers = unnamedOf(current, comparison.current.schemas);
  const ruleOf = (isAdded: boolean, rest: Schema) => {
    if (typeof rest !== "boolean") return "incomparable";
    if (isAdded) return rest ? "restrictionAdded" : "memberAddedToClosed";
    return rest ? "restrictionRemoved" : "objectClosed";
  };
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((pattern) => {
    const [before, after] = [was[pattern], is[pattern]];
    if (before !== undefined && after !== undefined) {
      return at(`/${pattern}/`, comparison.compare(before, after));
    }
    return before === undefined
      ? [found(ruleOf(true, others), `has a rule of members like ${pattern}`)]
      : [found(ruleOf(false, newOthers), `has no rule of members like ${pattern}`)];
  });
}

function compareNames(
  { base, current }: Pair<JsonSchema>,
  comparison: SchemaComparison,
): readonly SchemaDifference[] {
  const { propertyNames: was = TEXT } = base as { propertyNames?: Schema };
  const { propertyNames: is = TEXT } = current as { propertyNames?: Schema };
  const [before, after] = [
    comparison.base.schemas.merged([TEXT, was]), // names are texts
    comparison.current.schemas.merged([TEXT, is]),
  ];
  return at("(names)", comparison.compare(before, after));
}

const TEXT: Schema = { type: "string" };

function compareDependents({ base, current }: Pair<JsonSchema>): readonly SchemaDifference[] {
  const { dependentRequired: was = {} } = base as { dependentRequired?: Dependents };
  const { dependentRequired: is = {} } = current as { dependentRequired?: Dependents };
  const missing = (from: Dependents, to: Dependents) =>
    Object.entries(from).flatMap(([name, others]) =>
      others.filter((other) => !to[name]?.includes(other)).map((other) => [name, other] as const)
    );
  return [
    ...missing(is, was).map(([name, other]) =>
      found("restrictionAdded", `requires ${JSON.stringify(other)} with ${JSON.stringify(name)}`)
    ),
    ...missing(was, is).map(([name, other]) =>
      found(
        "restrictionRemoved",
        `can have ${JSON.stringify(name)} without ${JSON.stringify(other)}`,
      )
    ),
  ];
}

type Named = Readonly<Record<string, Schema>>;
type Dependents = Readonly<Record<string, readonly string[]>>;

/** Returns the schema of a member that is not named. */
function othersOf(
  keywords: JsonSchema,
  { name, schemas }: { readonly name: string; readonly schemas: FlatSchemas },
): Schema {
  const { patternProperties = {} } = keywords;
  const [pattern] = Object.entries(patternProperties as Named)
    .filter(([pattern]) => matchedBy({ patternProperties: { [pattern]: true } }, name));
  return pattern ? schemas.simplified(pattern[1]) : unnamedOf(keywords, schemas);
}

/** Returns the schema of members that have neither a name nor a pattern. */
function unnamedOf({ additionalProperties = true }: JsonSchema, schemas: FlatSchemas): Schema {
  return schemas.simplified(additionalProperties as Schema);
}

function isNothing(schema: Schema, schemas: FlatSchemas): boolean {
  return schemas.simplified(schema) === false;
}

function propertiesOf({ properties = {} }: JsonSchema): Named {
  return properties as Named;
}

function requiredOf({ required = [] }: JsonSchema): readonly string[] {
  return required as readonly string[];
}

function at(name: string, differences: readonly SchemaDifference[]): readonly SchemaDifference[] {
  return below(`.${name}`, differences);
}
