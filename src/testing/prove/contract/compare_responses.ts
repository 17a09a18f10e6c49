/**
 * Comparing what clients receive: statuses, headers and bodies.
 *
 * @module
 */
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { changed, changesOf, type Place, type PlacedChange } from "./change.ts";
import { compareContent, type Comparison } from "./compare_content.ts";
import { type ContractOperation, schemaIn } from "./contract_document.ts";
import { endingOf } from "./deprecation.ts";
import type { Pair } from "./pair.ts";

type Responses = ContractOperation["responses"];

/** Compares the responses of an operation. */
export function compareResponses(
  { base, current }: Pair<Responses>,
  comparison: Comparison,
): readonly PlacedChange[] {
  const kept = [...current].flatMap(([status, response]) => {
    const place: Place = { where: status, direction: "output" };
    const was = responseFor(status, base);
    return was
      ? compareResponse({ base: was, current: response }, { place, comparison })
      : [changed(place, isSuccess(status) ? "statusAdded" : "errorAdded", "is new")];
  });
  const successes = [...base.keys()].filter(isSuccess);
  const isWithoutSuccess = !successes.some((status) => isCovered(status, current));
  const removed = [...base.keys()].filter((status) => !isCovered(status, current)).map((status) => {
    const place: Place = { where: status, direction: "output" };
    const isBreaking = isSuccess(status) && isWithoutSuccess;
    return changed(place, isBreaking ? "successRemoved" : "statusRemoved", "is removed");
  });
  return [...removed, ...kept];
}

function compareResponse(
  { base, current }: Pair<JsonSchema>,
  { place, comparison }: { readonly place: Place; readonly comparison: Comparison },
): readonly PlacedChange[] {
  const [was, is] = [
    lowered(comparison.base.named(base.headers)),
    lowered(comparison.current.named(current.headers)),
  ];
  const at = (name: string): Place => ({ ...place, where: `${place.where} header ${name}` });
  return [
    ...[...was].flatMap(([name, header]) => {
      const becomes = is.get(name);
      if (becomes) {
        return compareHeader({ base: header, current: becomes }, { place: at(name), comparison });
      }
      const { base: { schemas }, now } = comparison.schemas;
      const ending = endingOf({ ...schemas.annotationsOf(schemaIn(header)), ...header }, now);
      return [changed(at(name), RULE_OF_ENDING[ending.kind], `is removed${ending.text}`)];
    }),
    ...[...is.keys()].filter((name) => !was.has(name))
      .map((name) => changed(at(name), "headerAdded", "is new")),
    ...compareContent({ base, current }, { place, comparison }),
  ];
}

const RULE_OF_ENDING = {
  none: "headerRemoved",
  ended: "headerEnded",
  early: "headerEndedEarly",
} as const;

function compareHeader(
  { base, current }: Pair<JsonSchema>,
  { place, comparison }: { readonly place: Place; readonly comparison: Comparison },
): readonly PlacedChange[] {
  const [was, is] = [base.required === true, current.required === true];
  const required = was === is ? [] : [
    is
      ? changed(place, "headerRequired", "is required")
      : changed(place, "headerOptional", "can be missing"),
  ];
  const differences = comparison.schemas.compare(schemaIn(base), schemaIn(current));
  return [...required, ...changesOf(place, differences)];
}

/** Returns the response that describes a status: its own, that of its range, or the default. */
function responseFor(status: string, responses: Responses): JsonSchema | undefined {
  return responses.get(status) ?? responses.get(`${status[0]}XX`) ?? responses.get("default");
}

/** Checks whether a status, or one of a range, can still be sent. */
function isCovered(status: string, responses: Responses): boolean {
  if (responseFor(status, responses)) return true;
  if (status === "default") return responses.size > 0;
  return /^\dXX$/.test(status) && [...responses.keys()].some((each) => each[0] === status[0]);
}

/**
 * Checks whether a status is an outcome that clients have to know. 206 and 304 are answers only to
 * requests that ask for them (RFC 9110 §14.2, §13.1.2), and 1xx are no outcomes.
 */
function isSuccess(status: string): boolean {
  return /^[23]/.test(status) && status !== "206" && status !== "304";
}

function lowered(headers: ReadonlyMap<string, JsonSchema>): ReadonlyMap<string, JsonSchema> {
  return new Map([...headers].map(([name, header]) => [name.toLowerCase(), header]));
}
