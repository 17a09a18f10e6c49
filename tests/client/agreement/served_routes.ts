/** An application of planned routes, which records what its handlers receive. */
import {
  type Context,
  controller,
  type FwApplication,
  FwFactory,
  module,
  route,
} from "../../../mod.ts";
import type { Route } from "../../../src/core/route/route.ts";
import { kindOf } from "./fields.ts";
import type { PlannedCall } from "./planned_call.ts";
import type { PlannedRoute } from "./planned_route.ts";

/** How requests name a version. */
export type Versioning = "path" | "header";

/** A planned route in an application. */
export interface ServedRoute {
  readonly plan: PlannedRoute;
  /** What its handler returns next. */
  next: PlannedCall["result"] | undefined;
  /** What its handler has received. */
  readonly received: ({ readonly pathname?: string } & object)[];
}

/** The prefix of all routes. */
export const PREFIX = "/api/all";

/** Creates an application of planned routes. */
export async function serve(
  routes: readonly ServedRoute[],
  versioning: Versioning,
): Promise<FwApplication> {
  const app = await FwFactory.create(
    module({ name: "Root", controllers: routes.map(controllerOf) }),
  );
  app.setGlobalPrefix(PREFIX);
  return versioning === "path" ? app.enableUriVersioning() : app.enableHeaderVersioning();
}

/** Returns the path by which a client calls a route, without the patterns of its parameters. */
export function calledPath(
  routes: readonly ServedRoute[],
  { served, version, versioning }: {
    readonly served: ServedRoute;
    readonly version: string | undefined;
    readonly versioning: Versioning;
  },
): string {
  const { path } = served.plan;
  const start = versioning === "path" && version !== undefined ? `/${version}` : "";
  const whole = `${start}/${prefixOf(routes.indexOf(served), served.plan)}${
    path === "/" ? "" : path
  }`;
  return whole.replaceAll(/\{[^}]*\}/g, "");
}

function controllerOf(served: ServedRoute, index: number) {
  const { plan } = served;
  const { controller: version, own } = plan.version;
  const schemaOf = (fields: Parameters<typeof kindOf>[0]) => kindOf(fields)[plan.schemas];
  const declared = plan.params.filter(({ name }) => name !== "*");
  const options: Record<string, unknown> = {
    ...plan.hasParams && { params: schemaOf(declared) },
    ...plan.query && { query: schemaOf(plan.query) },
    ...plan.headers && { headers: schemaOf(plan.headers) },
    ...plan.body && {
      consumes: plan.body.formats,
      body: "fields" in plan.body ? schemaOf(plan.body.fields) : plan.body.kind[plan.schemas],
    },
    ...own !== undefined && { version: own },
    ...plan.answer.options(plan.schemas),
  };
  const { reads } = plan.answer;
  const withContext = (input: object, c: Context) => {
    served.received.push({ ...input, pathname: new URL(c.req.url).pathname });
    return served.next?.returned(c);
  };
  const withInput = (input: object) => { // the framework calls it without a context
    served.received.push(input);
    return served.next?.returned(undefined as never);
  };
  const handler = plan.takesContext || reads === "events" ? withContext : withInput;
  // the types of the overloads differ
  const declare = route[plan.method] as unknown as (...args: readonly unknown[]) => Route;
  return class extends controller(prefixOf(index, plan), version === undefined ? {} : { version }) {
    it = declare(plan.path, options, handler);
  };
}

function prefixOf(index: number, { prefix }: PlannedRoute): string {
  return `r${index}${prefix && `/${prefix}`}`;
}
