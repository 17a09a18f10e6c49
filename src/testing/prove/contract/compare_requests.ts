/**
 * Comparing what clients send: parameters, bodies and credentials.
 *
 * @module
 */
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { changed, changesOf, type Place, type PlacedChange } from "./change.ts";
import { compareContent, type Comparison } from "./compare_content.ts";
import {
  type ContractDocument,
  type ContractOperation,
  type Requirement,
  schemaIn,
} from "./contract_document.ts";
import { endingOf } from "./deprecation.ts";
import type { Pair } from "./pair.ts";
import { canonicalText } from "./schema/canonical_text.ts";
import { compareDefaults } from "./schema/defaults.ts";

/** Compares the requests of an operation. */
export function compareRequests(
  { base, current }: Pair<ContractOperation>,
  comparison: Comparison,
): readonly PlacedChange[] {
  const [was, is] = [base.parameters, current.parameters];
  return [
    ...[...was].flatMap(([key, parameter]) => {
      const becomes = is.get(key);
      return becomes
        ? compareParameters({ base: parameter, current: becomes }, comparison)
        : [removedParameter(parameter, comparison)];
    }),
    ...[...is].filter(([key]) => !was.has(key)).map(([, parameter]) =>
      changed(
        placeOf(parameter),
        parameter.required ? "parameterRequired" : "parameterAdded",
        "is new",
      )
    ),
    ...compareBodies({ base: base.body, current: current.body }, comparison),
  ];
}

/**
 * Compares the requirements of an operation: credentials that met one have to meet one still.
 * Schemes with another name are the same if their definitions are.
 */
export function compareSecurity(
  { base, current }: Pair<readonly Requirement[]>,
  documents: Pair<ContractDocument>,
): readonly PlacedChange[] {
  const [was, is] = [
    base.map((each) => identified(each, documents.base)),
    current.map((each) => identified(each, documents.current)),
  ];
  const unmet = was.filter((each) => !isMetBy(each, is));
  const place = { where: "", direction: "input" } as const;
  const change = `needs ${requirementsText(current)}, needed ${requirementsText(base)}`;
  if (unmet.length > 0 || was.length === 0 && is.length > 0) {
    return [changed(place, "protectionStricter", change)];
  }
  const isLooser = is.length === 0 ? was.length > 0 : is.some((each) => !isMetBy(each, was));
  return isLooser ? [changed(place, "protectionLooser", change)] : [];
}

/** Compares the definitions of schemes of both documents. */
export function compareSchemes({ base, current }: Pair<ContractDocument>): readonly PlacedChange[] {
  const used = new Set(
    [...base.operations.values()].flatMap(({ security }) =>
      security.flatMap((each) => Object.keys(each))
    ),
  );
  return [...base.schemes].filter(([name]) => used.has(name)).flatMap(([name, was]) => {
    const is = current.schemes.get(name);
    if (!is || idOf(name, was) !== idOf(name, is)) return []; // the operations report it
    const place = { where: `security scheme ${JSON.stringify(name)}`, direction: "input" } as const;
    return Object.entries(Object(was.flows)).flatMap(([flow, before]) => {
      const after = Object(is.flows)[flow];
      if (!after) return [changed(place, "schemeChanged", `lost the flow ${flow}`)];
      return ["authorizationUrl", "tokenUrl"]
        .filter((url) => Object(before)[url] !== after[url])
        .map((url) => changed(place, "schemeChanged", `has another ${url} of ${flow}`));
    });
  });
}

function compareParameters(
  { base, current }: Pair<JsonSchema>,
  comparison: Comparison,
): readonly PlacedChange[] {
  const place = placeOf(base);
  if (Boolean(base.content) !== Boolean(current.content)) {
    return [changed(place, "serializationChanged", "has another form")];
  }
  const [was, is] = [schemaIn(base), schemaIn(current)];
  const { schemas } = comparison;
  const [before, after] = [
    schemas.base.schemas.annotationsOf(was),
    schemas.current.schemas.annotationsOf(is),
  ];
  return [
    ...compareRequired({ base, current }, { place, name: "parameter" }),
    ...base.content ? compareContent({ base, current }, { place, comparison }) : [],
    ...changesOf(place, [
      ...schemas.compare(was, is),
      ...base.required ? [] : compareDefaults(before, after),
    ]),
    ...compareStyles({ base, current }, comparison),
  ];
}

/** Compares how a value is written as text, which matters for lists and objects. */
function compareStyles(
  { base, current }: Pair<JsonSchema>,
  { schemas }: Comparison,
): readonly PlacedChange[] {
  const isStructured = schemas.base.of(schemaIn(base))
    .some(({ type }) => type === "array" || type === "object");
  const [was, is] = [base, current].map((parameter) => {
    const { style = STYLES[String(parameter.in)], explode = style === "form" } = parameter;
    return `${style}${isStructured && explode ? ", exploded" : ""}`;
  });
  if (was === is) return [];
  return [changed(placeOf(base), "serializationChanged", `has style ${is}, had ${was}`)];
}

/** The default styles (OpenAPI 3.1.1 §4.8.12.2). */
const STYLES: Readonly<Record<string, string>> = {
  query: "form",
  cookie: "form",
  path: "simple",
  header: "simple",
};

function removedParameter(parameter: JsonSchema, { schemas }: Comparison): PlacedChange {
  const annotations = schemas.base.schemas.annotationsOf(schemaIn(parameter));
  const ending = endingOf({ ...annotations, ...parameter }, schemas.now);
  const rules = {
    none: "parameterRemoved",
    ended: "parameterEnded",
    early: "parameterEndedEarly",
  } as const;
  return changed(placeOf(parameter), rules[ending.kind], `is removed${ending.text}`);
}

function compareBodies(
  { base, current }: Pair<JsonSchema | undefined>,
  comparison: Comparison,
): readonly PlacedChange[] {
  const place: Place = { where: "body", direction: "input" };
  if (!base && !current) return [];
  if (!base) return [changed(place, current?.required ? "bodyRequired" : "bodyAdded", "is new")];
  if (!current) return [changed(place, "bodyRemoved", "is removed")];
  return [
    ...compareRequired({ base, current }, { place, name: "body" }),
    ...compareContent({ base, current }, { place, comparison }),
  ];
}

function compareRequired(
  { base, current }: Pair<JsonSchema>,
  { place, name }: { readonly place: Place; readonly name: "parameter" | "body" },
): readonly PlacedChange[] {
  const [was, is] = [base.required === true, current.required === true];
  if (was === is) return [];
  return [
    is
      ? changed(place, `${name}Required`, "is required")
      : changed(place, `${name}Optional`, "is optional"),
  ];
}

function placeOf({ in: place, name }: JsonSchema): Place {
  return { where: `${place} ${JSON.stringify(name)}`, direction: "input" };
}

/** Scopes by what identifies a scheme. */
type Identified = ReadonlyMap<string, readonly string[]>;

function identified(requirement: Requirement, { schemes }: ContractDocument): Identified {
  return new Map(
    Object.entries(requirement).map(([name, scopes]) => [idOf(name, schemes.get(name)), scopes]),
  );
}

/** Returns what identifies a scheme: what its requests have, or where its tokens come from. */
function idOf(name: string, scheme: JsonSchema = {}): string {
  const { type, in: place, openIdConnectUrl } = scheme;
  if (type === "http") return canonicalText([type, String(scheme.scheme).toLowerCase()]);
  if (type === "openIdConnect") return canonicalText([type, openIdConnectUrl]);
  if (type === "mutualTLS") return canonicalText([type]);
  if (type !== "apiKey") return canonicalText([type, name]);
  const key = place === "header" ? String(scheme.name).toLowerCase() : scheme.name;
  return canonicalText([type, place, key]);
}

/** Checks whether who meets a requirement meets one of some. */
function isMetBy(requirement: Identified, others: readonly Identified[]): boolean {
  if (others.length === 0) return true;
  return others.some((other) =>
    [...other].every(([scheme, scopes]) =>
      requirement.has(scheme) && scopes.every((scope) => requirement.get(scheme)!.includes(scope))
    )
  );
}

function requirementsText(security: readonly Requirement[]): string {
  if (security.length === 0) return "nothing";
  return security.map((each) =>
    Object.entries(each)
      .map(([name, scopes]) => scopes.length > 0 ? `${name} (${scopes.join(", ")})` : name)
      .join(" and ")
  ).join(" or ");
}
