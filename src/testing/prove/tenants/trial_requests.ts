/**
 * Requests of a tenant to each route: for rows of its own, and for rows of another.
 *
 * @module
 */
import fc from "fast-check";
import { IDEMPOTENCY_KEY } from "../../../core/http/idempotency_key.ts";
import { isJsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { draftsOf } from "../request/arbitrary_requests.ts";
import type { SchemaContext } from "../request/arbitrary_value.ts";
import { alternativesOf, type Resolve } from "../request/plain_schema.ts";
import { type Draft, writeDraft } from "../request/planned_request.ts";
import type { DescribedOperation, DescribedParameter } from "../request/served_document.ts";
import type { CalledRoute } from "../request/called_route.ts";
import type { RowValues, Series } from "./row_values.ts";
import { MARKS } from "./seed_rows.ts";
import { bodyChanges, ownReferences } from "./trial_bodies.ts";
import type { Step } from "./worlds.ts";

/** What requests are made of. */
export interface Making {
  readonly seed: number;
  readonly values: RowValues;
  readonly context: SchemaContext;
}

/** How many values of a parameter are tried. */
const MAX_VALUES = 6;

/** How many sets of the parameters of a path are tried. */
const MAX_PATHS = 12;

/** How many values of a list of values are tried, such as the orders of a list. */
const MAX_LISTED = 12;

/** How many bodies are sent for a row of another tenant. */
const BODIES = 4;

/** The rows whose keys are in paths: the first, and the last, which can be deleted. */
const ROWS = [0, -1];

/** How many random parts of requests are made. */
const DRAFTS = 100;

/** What tries one route, in the order of sending. */
export interface RouteTrial {
  readonly route: CalledRoute;
  readonly steps: readonly Step[];
}

/** Makes the requests to a route. */
export function trialOf(route: CalledRoute, making: Making): RouteTrial {
  const { operation } = route;
  const steps = operation ? stepsOf(route, operation, making) : [plainStep(route)];
  const seen = new Set<string>();
  const distinct = steps.filter(({ request }) => {
    const { method, path, headers, body } = request;
    const key = JSON.stringify([method, path, headers, typeof body === "string" ? body : ""]);
    return !seen.has(key) && seen.add(key);
  });
  const isRead = route.request.method === "GET";
  // the owner reads first, so that the answer would be in a cache
  return {
    route,
    steps: distinct.flatMap((step) => isRead ? [{ ...step, by: "owner" }, step] : [step]),
  };
}

/** A route that is not documented: the parameters of its path are all that is known of it. */
function plainStep(route: CalledRoute): Step {
  return { route, by: "stranger", request: route.request };
}

function stepsOf(
  route: CalledRoute,
  operation: DescribedOperation,
  { seed, values, context }: Making,
): readonly Step[] {
  const drafts = sampledDrafts(operation, { seed, context });
  let drawn = 0;
  const draw = (): Draft => drafts[drawn++ % drafts.length]!; // there are some
  const fewest = withoutOptional(operation);
  const paths = pathsOf(operation, values);
  const steps: Step[] = [];
  const add = (
    draft: Draft,
    { path = paths.own[0] ?? {}, unique }: {
      readonly path?: Readonly<Record<string, string>> | undefined;
      readonly unique?: readonly string[];
    } = {},
  ) => {
    const headers = neededHeaders(
      operation,
      `${encodeURIComponent(route.handler)}-${steps.length}`,
    );
    const request = writeDraft(operation, {
      ...draft,
      path: { ...draft.path, ...path },
      headers: { ...draft.headers, ...headers },
    });
    steps.push({ route, by: "stranger", request, ...unique && { unique } });
  };
  // several bodies for one row: some change nothing
  for (let i = 0; i < (operation.body ? BODIES : 0); i++) {
    add(ownReferences(fewest(draw()), operation, { values, context }), { path: paths.others[0] });
  }
  for (const path of paths.others) {
    add(ownReferences(fewest(draw()), operation, { values, context }), { path });
  }
  for (const query of queriesOf(operation, { values, context, drafts })) {
    for (const path of [paths.own[0], paths.others[0]]) add({ ...fewest(draw()), query }, { path });
  }
  for (const choice of tenantChoices(operation, values)) {
    const draft = fewest(draw());
    const [path = paths.own[0]] = paths.others;
    const query = [...draft.query, ...choice.query];
    add({ ...draft, query, headers: { ...draft.headers, ...choice.headers } }, { path });
  }
  for (const { change, attempts, unique } of bodyChanges(operation, { values, context })) {
    for (let i = 0; i < attempts; i++) {
      const draft = change(ownReferences(draw(), operation, { values, context }));
      if (draft) add(draft, { ...unique && { unique } });
    }
  }
  for (let i = 0; i < 2; i++) add(ownReferences(draw(), operation, { values, context }));
  for (const path of paths.own) {
    add(ownReferences(fewest(draw()), operation, { values, context }), { path });
  }
  return steps;
}

/** Returns parts of requests with different bodies. */
function sampledDrafts(
  operation: DescribedOperation,
  { seed, context }: Pick<Making, "seed" | "context">,
): readonly Draft[] {
  const drafts = fc.sample(draftsOf(operation, context), { seed, numRuns: DRAFTS });
  if (!operation.body) return drafts;
  return [...new Map(drafts.map((draft) => [JSON.stringify(draft.body), draft])).values()];
}

/** Returns the headers that a change needs: `*` as its version, and an idempotency key. */
function neededHeaders({ parameters }: DescribedOperation, key: string): Draft["headers"] {
  const values = new Map([["if-match", "*"], [IDEMPOTENCY_KEY, key]]);
  return Object.fromEntries(
    parameters.filter((each) => each.in === "header").flatMap(({ name }) => {
      const value = values.get(name.toLowerCase());
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Returns the function that removes optional parameters. */
function withoutOptional({ parameters }: DescribedOperation): (draft: Draft) => Draft {
  const isRequired = (place: string, name: string) =>
    parameters.some((each) => each.in === place && each.name === name && each.required);
  return (draft) => ({
    ...draft,
    query: draft.query.filter(([name]) => isRequired("query", name)),
    headers: Object.fromEntries(
      Object.entries(draft.headers).filter(([name]) => isRequired("header", name)),
    ),
  });
}

type Path = Readonly<Record<string, string>>;

/** Returns parameters of a path: of rows of the stranger, and with some of rows of the owner. */
function pathsOf(
  { parameters }: DescribedOperation,
  values: RowValues,
): { readonly own: readonly Path[]; readonly others: readonly Path[] } {
  const inPath = parameters.filter((each) => each.in === "path");
  const named = inPath.map((parameter) => ({
    name: parameter.name,
    series: values.named(parameter.name).filter((series) => fits(parameter, series)),
  })).filter(({ series }) => series.length > 0);
  if (named.length === 0) return { own: [{}], others: [] };
  const paths = (sides: readonly (keyof Series)[], index: number) =>
    Array.from(
      { length: Math.max(...named.map(({ series }) => series.length)) },
      (_, nth) =>
        Object.fromEntries(
          named.map(({ name, series }, i) => {
            const list = series[nth % series.length]?.[sides[i] ?? "stranger"] ?? [];
            return [name, String(list.at(index))];
          }),
        ),
    );
  const masks = Array.from(
    { length: 2 ** Math.min(named.length, 3) },
    (_, mask) => named.map((_, i) => (mask >> i) & 1 ? "owner" as const : "stranger" as const),
  );
  const [own = [], ...others] = masks;
  return {
    own: ROWS.flatMap((index) => paths(own, index)).slice(0, MAX_VALUES),
    others: others.toReversed().flatMap((sides) => ROWS.flatMap((index) => paths(sides, index)))
      .slice(0, MAX_PATHS),
  };
}

function fits({ holds }: DescribedParameter, { owner: [value] }: Series): boolean {
  return holds(value) || holds(String(value));
}

/** Returns queries with one parameter each, besides some at random. */
function queriesOf(
  { parameters }: DescribedOperation,
  { values, context, drafts }: {
    readonly values: RowValues;
    readonly context: SchemaContext;
    readonly drafts: readonly Draft[];
  },
): readonly Draft["query"][] {
  const inQuery = parameters.filter((each) => each.in === "query");
  if (inQuery.length === 0) return [];
  const required = (drafts[0]?.query ?? []).filter(([name]) =>
    inQuery.some((each) => each.required && each.name === name)
  );
  const random = drafts.slice(0, 4).map(({ query }) => query);
  const single = inQuery.filter(({ isOpen }) => !isOpen).flatMap((parameter) => {
    const { name, holds, schema } = parameter;
    const series = values.named(name).flatMap(({ owner, stranger }) => [owner[0], stranger[0]]);
    const listed = listedValues(schema, context.resolve).slice(0, MAX_LISTED);
    const given = [MARKS.owner, ...series, 1].slice(0, MAX_VALUES)
      .filter((value) =>
        holds(value) || holds([value]) || holds(String(value)) || holds([String(value)])
      );
    const texts = drafts.flatMap(({ query }) => query.filter(([key]) => key === name)).slice(0, 2)
      .map(([, text]) => text);
    const others = required.filter(([key]) => key !== name);
    return [...new Set([...given, ...listed, ...texts].map(String))]
      .map((text) => [...others, [name, text] as const]);
  });
  return [...single, ...random];
}

/** Returns undocumented parts of requests that could select the tenant of the owner. */
function tenantChoices(
  { parameters }: DescribedOperation,
  { tenant }: RowValues,
): readonly Pick<Draft, "query" | "headers">[] {
  const claims = Object.entries(tenant)
    .filter(([name]) => !parameters.some((each) => each.name === name))
    .map(([name, claim]) => [name, String(claim)] as const);
  const headers = claims.flatMap(([name, claim]) => {
    const plain = name.replaceAll("_", "-");
    return [[plain, claim], [`x-${plain}`, claim]];
  });
  return claims.length === 0 ? [] : [
    { query: claims, headers: {} },
    { query: [], headers: Object.fromEntries(headers) },
  ];
}

/** Returns the values that a schema, or that of its elements, lists. */
function listedValues(schema: unknown, resolve: Resolve): readonly unknown[] {
  return alternativesOf(schema, resolve).flatMap(({ enum: list, items }) => [
    ...Array.isArray(list) ? list : [],
    ...isJsonSchema(items) ? listedValues(items, resolve) : [],
  ]);
}
