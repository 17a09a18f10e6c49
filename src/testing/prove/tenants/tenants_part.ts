/**
 * The part `tenants`: no answer to a caller of one tenant may depend on rows of another, and no
 * request of it may change them.
 *
 * @module
 */
import { type CalledRoute, calledRoute } from "../request/called_route.ts";
import { withDocument } from "../request/with_document.ts";
import type { Failure, Part, PartResult, ProveContext } from "../part.ts";
import { BodyTexts } from "./body_texts.ts";
import { RowValues } from "./row_values.ts";
import { planSeeds } from "./seed_rows.ts";
import {
  type Tables,
  tablesOf,
  tenantColumns,
  type TenantPair,
  tenantPairs,
} from "./tenant_pairs.ts";
import { TenantTrial, type TenantTrialResult } from "./tenant_trial.ts";
import { type Making, type RouteTrial, trialOf } from "./trial_requests.ts";
import { World } from "./worlds.ts";

/** Makes requests of a tenant in databases with and without rows of another. */
export const tenantsPart: Part = { name: "tenants", run };

function run(context: ProveContext): Promise<PartResult> {
  const { callers: declared = {}, undocumented, revealed = [] } = context.options;
  return withDocument(context, async (started, document) => {
    const tables = tablesOf(started);
    const pairs = tenantPairs(declared, { callers: started.callers, tables });
    if (pairs.length === 0) {
      return {
        checked: "no two callers differ in a claim that is a column of a model",
        outcome: "not applicable",
        failures: [],
      };
    }
    const schemaContext = {
      resolve: (reference: string) => document.resolve(reference),
      undocumented,
    };
    const routes = started.app.routes()
      .map((route) => calledRoute(route, { document, undocumented }));
    const texts = new BodyTexts(document, { seed: context.seed, context: schemaContext });
    const results: TenantTrialResult[] = [];
    const notes: string[] = [];
    for (const pair of pairs) {
      const { rows, missing } = await acceptedSeeds(context, { tables, pair, texts });
      const values = new RowValues(rows, { tables, pair });
      const settings = { context, pair, seeds: rows };
      const trial = new TenantTrial(settings, { judging: { values, pair }, accepted: revealed });
      const result = await trial.run(
        trialsOf(routes, { seed: context.seed, values, context: schemaContext }),
      );
      results.push(result);
      notes.push(...missing, ...refusalsOf(result, pair));
    }
    const owned = [...tables.values()].filter((table) =>
      pairs.some((pair) => tenantColumns(table, pair).length > 0)
    );
    const requests = results.reduce((sum, { requests }) => sum + requests, 0);
    const seen = new Set(results.flatMap(({ revealed }) => [...revealed]));
    return {
      checked: `${routes.length} routes, ${owned.length} of ${tables.size} tables with tenants, ` +
        `${requests} requests`,
      outcome: "nothing of another tenant is given, counted, changed or revealed" +
        (seen.size > 0 ? `, but for ${[...seen].join(", ")}` : ""),
      failures: distinct(results.flatMap(({ failures }) => failures)),
      notes: [...new Set([...notes, ...unused(revealed, seen)])],
    };
  });
}

/** Plans rows, without those that the database or a hook refuses. */
async function acceptedSeeds(
  context: ProveContext,
  { tables, pair, texts }: {
    readonly tables: Tables;
    readonly pair: TenantPair;
    readonly texts: BodyTexts;
  },
): Promise<ReturnType<typeof planSeeds>> {
  const { rows, missing } = planSeeds(tables, { pair, texts });
  const world = await World.start({ context, pair, seeds: rows }, { hasOwner: true });
  const { refused } = world;
  await world[Symbol.asyncDispose]();
  const kept = rows.filter((row) => !refused.includes(row));
  const empty = [...new Set(refused.map(({ table }) => table))]
    .filter((key) => !kept.some(({ table }) => table === key))
    .map((key) => `${tables.get(key)?.name} has no rows: the database or a hook refuses them`);
  return { rows: kept, missing: [...missing, ...empty] };
}

/**
 * Puts reads before writes and deletions last, of which those of all rows are the very last: each
 * is tried while there are rows.
 */
function trialsOf(routes: readonly CalledRoute[], making: Making): readonly RouteTrial[] {
  const of = (isChosen: (route: CalledRoute) => boolean) =>
    routes.filter(isChosen).map((route) => trialOf(route, making));
  const get = isOf("GET");
  const remove = isOf("DELETE");
  const isOfOne = ({ path }: CalledRoute) => path.includes(":");
  const reads = of(get);
  return [
    ...reads,
    ...of((route) => !get(route) && !remove(route)),
    ...reads,
    ...of((route) => remove(route) && isOfOne(route)),
    ...of((route) => remove(route) && !isOfOne(route)),
  ];
}

function isOf(name: string): (route: CalledRoute) => boolean {
  return ({ request: { method } }) => method === name;
}

function refusalsOf({ refusing }: TenantTrialResult, { stranger }: TenantPair): readonly string[] {
  if (refusing.length === 0) return [];
  return [`no request of ${stranger.name} succeeds: ${refusing.join(", ")}`];
}

function unused(revealed: readonly string[], seen: ReadonlySet<string>): readonly string[] {
  return revealed.filter((name) => !seen.has(name))
    .map((name) => `${name} is declared to be revealed, and is not`);
}

/** Keeps the first failure of each route. */
function distinct(failures: readonly Failure[]): readonly Failure[] {
  const bySubject = new Map(failures.toReversed().map((failure) => [failure.subject, failure]));
  return [...bySubject.values()].toReversed();
}
