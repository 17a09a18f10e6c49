/**
 * The faults of the answers to a request in two databases.
 *
 * @module
 */
import { decodedUrl } from "../percent_encoding.ts";
import { describeAnswer } from "../request/exchange_lines.ts";
import { parsedJson } from "../request/json_text.ts";
import { type Answer, differenceOf } from "./answers.ts";
import type { RowValues } from "./row_values.ts";
import type { TenantPair } from "./tenant_pairs.ts";
import type { Outcome, Step } from "./worlds.ts";

/** Something that is wrong. */
export interface Finding {
  /** In words, without what varies from request to request. */
  readonly faults: readonly string[];
  /** Whether the answers alone have shown it: they could differ by chance. */
  readonly isDifference: boolean;
  /** What `revealed` may have, if no more is wrong than that a row of the owner exists. */
  readonly revealed: readonly string[];
  /** The two answers, as lines. */
  readonly answers: readonly string[];
}

/** What answers are judged with. */
export interface Judging {
  readonly values: RowValues;
  readonly pair: TenantPair;
}

/** Judges the answers to a request of the stranger; `undefined` if nothing is wrong. */
export function findingOf(
  step: Step,
  { beside, without, changes }: Outcome,
  { values, pair }: Judging,
): Finding | undefined {
  const { request: { method, path, body }, unique = [], route } = step;
  const { owner: { name: owner }, stranger: { name: stranger } } = pair;
  const sent = [method, decodedUrl(path), typeof body === "string" ? body : ""].join(" ");
  const isKnown = (text: string) => sent.includes(text) || values.has(text);
  const difference = beside && without && differenceOf(beside, without, { isKnown });
  const sentOrOwn = sent + textOf(without); // the stranger may have a row with such a value
  const isGiven = values.ownersValuesIn(textOf(beside)).some((value) => !sentOrOwn.includes(value));
  const [status = 0, other = 0] = [beside?.response.status, without?.response.status];
  const isRow = isGiven ||
    difference !== undefined && status < 300 && hasKey(beside?.body ?? "", values);
  const given = !isRow
    ? []
    : status < 400
    ? [`gives ${stranger} a row of ${owner}`]
    : [`the ${status} to ${stranger} has a value of a row of ${owner}`];
  const isStatus = difference !== undefined && status !== other;
  const isUnique = isStatus && status >= 400 && other < 400 && unique.length > 0;
  const isExistence = isStatus && status >= 400 && other >= 400;
  const revealed = given.length + changes.length > 0
    ? []
    : isUnique
    ? unique
    : isExistence
    ? [`${route.method} ${route.path}`]
    : [];
  const inferred = difference === undefined || given.length + changes.length > 0
    ? []
    : isUnique
    ? [`answers ${stranger} ${status} if a row of ${owner} has the same ${unique.join(", ")}`]
    : isExistence
    ? [`answers ${stranger} ${status} if a row is ${owner}'s, and ${other} if there is none`]
    : [`the answer to ${stranger} depends on rows of ${owner}: ${difference}`];
  const faults = [...changes, ...given, ...inferred];
  if (faults.length === 0) return undefined;
  return {
    faults,
    isDifference: changes.length === 0 && !isGiven,
    revealed,
    answers: [
      ...beside ? [`${describeAnswer(beside.response, beside.body)}`] : [],
      ...without ? [`${describeAnswer(without.response, without.body)}`] : [],
    ].map((line, i) => line.replace(/^# /, i === 0 ? "# " : `# without rows of ${owner}: `)),
  };
}

function textOf(answer: Answer | undefined): string {
  return answer ? [...[...answer.response.headers].flat(), answer.body].join("\n") : "";
}

/** Whether two findings are the same fault, but for numbers. */
export function isSame(one: Finding, other: Finding): boolean {
  const plain = ({ faults }: Finding) => faults.join().replaceAll(/\d+/g, "0").split(":")[0];
  return plain(one) === plain(other);
}

/** Checks whether JSON has a key of a row of the owner. */
function hasKey(text: string, values: RowValues): boolean {
  const has = (value: unknown): boolean =>
    typeof value === "object" && value !== null
      ? Object.values(value).some(has)
      : value !== null && values.isOwnersKey(value);
  const json = parsedJson(text);
  return json !== undefined && has(json);
}
