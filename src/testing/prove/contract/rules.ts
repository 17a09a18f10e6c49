/**
 * The rules of a contract: which changes of a document break its clients.
 *
 * An input is what clients send; it breaks if a request that was valid is refused, or means
 * something else. An output is what they receive; it breaks if it can be what was excluded, or
 * lacks what it had. What cannot be compared counts as breaking.
 *
 * @module
 */

/** Whether clients send it or receive it. */
export type Direction = "input" | "output";

/** What a change means for clients. */
export interface Rule {
  /** Whether it breaks clients that send it. */
  readonly input: boolean;
  /** Whether it breaks clients that receive it. */
  readonly output: boolean;
  /** Why. */
  readonly reason: string;
}

/** A rule of the table. */
export type RuleName = keyof typeof TABLE;

/** The table: what has changed, whom it breaks, and why. */
const TABLE = {
  // operations
  operationRemoved: both("its requests are answered with 404 or 405"),
  operationAdded: none("no client uses it yet"),
  operationEnded: none("it was deprecated, and its sunset has passed or was not set"),
  operationEndedEarly: both("clients rely on it until its sunset"),
  operationDeprecated: none("it works until it is removed"),
  operationRenamed: none("requests do not contain the id; generated clients change"),
  serverRemoved: both("clients send requests to it"),
  serverAdded: none("no client uses it yet"),
  // protection
  protectionStricter: both("requests that were allowed are answered with 401 or 403"),
  protectionLooser: none("requests that were allowed still are"),
  schemeChanged: both("credentials of the base may not be accepted"),
  // parameters and bodies of requests
  parameterAdded: none("requests can omit it"),
  parameterRequired: input("requests that omit it are refused"),
  parameterOptional: none("requests that have it are still accepted"),
  parameterRemoved: input("what clients send in it is ignored or refused"),
  parameterEnded: none("it was deprecated, and its sunset has passed or was not set"),
  parameterEndedEarly: input("clients rely on it until its sunset"),
  serializationChanged: both("its text has another form"),
  bodyAdded: none("requests can omit it"),
  bodyRequired: input("requests that omit it are refused"),
  bodyOptional: none("requests that have it are still accepted"),
  bodyRemoved: input("what clients send in it is ignored or refused"),
  // responses
  statusAdded: output("clients do not know this success"),
  errorAdded: none("clients treat an unknown error as the 400 or 500 (RFC 9110 §15)"),
  statusRemoved: none("it is no longer sent"),
  successRemoved: both("clients wait for this success"),
  headerAdded: none("clients do not read it yet"),
  headerRemoved: output("clients read it"),
  headerEnded: none("it was deprecated, and its sunset has passed or was not set"),
  headerEndedEarly: output("clients rely on it until its sunset"),
  headerRequired: none("it is always sent"),
  headerOptional: output("clients read it, and it can be missing"),
  // formats of bodies
  formatAdded: none("clients that do not ask for it still get the others"),
  formatRemoved: both("clients send it, or ask for it"),
  contentAdded: none("clients do not read it yet"),
  contentRemoved: output("clients read it"),
  // types and values
  typeRemoved: input("values of the type are refused"),
  typeAdded: output("clients do not expect values of the type"),
  valueRemoved: input("the value is refused"),
  valueAdded: output("clients do not expect the value"),
  valuesListed: input("other values are refused"),
  valuesUnlisted: output("clients expect only the listed values"),
  alternativeRemoved: input("values of it are refused"),
  alternativeAdded: output("clients do not expect values of it"),
  limitTightened: input("values beyond it are refused"),
  limitLoosened: output("clients do not expect values beyond it"),
  restrictionAdded: input("values that do not satisfy it are refused"),
  restrictionRemoved: output("clients rely on it"),
  excludesMore: input("values that were allowed are refused"),
  excludesLess: output("clients do not expect values that were excluded"),
  // members of objects
  memberAdded: none("clients neither send it nor read it yet"),
  memberAddedToClosed: output("clients rely on there being no other members"),
  memberRemoved: both("clients send it, or read it"),
  memberEnded: none("it was deprecated, and its sunset has passed or was not set"),
  memberEndedEarly: both("clients rely on it until its sunset"),
  memberRequired: input("values without it are refused"),
  memberOptional: output("clients read it, and it can be missing"),
  objectClosed: input("other members are refused"),
  objectOpened: output("clients rely on there being no other members"),
  defaultChanged: input("a request that omits it means something else"),
  // the rest
  incomparable: both("it cannot be decided whether the one includes the other"),
} as const;

/** The rules by name. */
export const RULES: Readonly<Record<RuleName, Rule>> = TABLE;

/** A difference, before it is known whether clients send it or receive it. */
export interface SchemaDifference {
  /** The place, below that of the compared values: `rows[].total`; empty for themselves. */
  readonly path: string;
  /** The rule that it falls under. */
  readonly rule: RuleName;
  /** What has changed, in words that follow the place: `lost "total"`. */
  readonly change: string;
}

/** Creates a difference at the compared values themselves. */
export function found(rule: RuleName, change: string): SchemaDifference {
  return { path: "", rule, change };
}

/** Moves differences below a step of a path: `.total` or `[]`. */
export function below(
  step: string,
  differences: readonly SchemaDifference[],
): readonly SchemaDifference[] {
  return differences.map((difference) => ({ ...difference, path: step + difference.path }));
}

function none(reason: string): Rule {
  return { input: false, output: false, reason };
}

function input(reason: string): Rule {
  return { input: true, output: false, reason };
}

function output(reason: string): Rule {
  return { input: false, output: true, reason };
}

function both(reason: string): Rule {
  return { input: true, output: true, reason };
}
