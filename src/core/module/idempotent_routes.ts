/**
 * Routes with `idempotent`, and what answers their requests once. Boot loads it if there is one.
 *
 * @module
 */
import type { AnswerOnce } from "../route/route_handler.ts";
import { type BoundRoute, nameOf } from "../route/route_table.ts";

/** The key of the member by which boot finds the {@linkcode IdempotencyStore}. */
export const answersOnce: unique symbol = Symbol("fw.answersOnce");

/** What stores the answers of routes with `idempotent`; a provider of the application. */
export interface IdempotencyStore {
  /**
   * Returns what answers the requests of a route, by its name.
   *
   * @throws {TypeError} if it cannot store answers
   */
  readonly [answersOnce]: (route: string) => AnswerOnce;
}

/** The methods whose routes can be idempotent: those of requests that have an effect. */
const METHODS: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];

/** The media type of server-sent events. */
export const EVENTS = "text/event-stream";

/**
 * Finds the store among the instances of an application, and returns what creates the answers of
 * each route: `undefined` for one without `idempotent`.
 *
 * @throws {TypeError} naming the route, if there is no store or several, the store cannot store
 * answers, or the route cannot be idempotent
 */
export function idempotentRoutes(
  instances: readonly object[],
): (bound: BoundRoute) => AnswerOnce | undefined {
  const [store, ...others] = instances.filter((it): it is IdempotencyStore => answersOnce in it);
  return (bound) => {
    const { method, options: { idempotent, openapi: { responses = {} } = {} } } = bound.route;
    if (!idempotent) return undefined;
    const name = nameOf(bound);
    const refuse = (why: string): never => {
      throw new TypeError(`Cannot mount ${name}: ${why}`);
    };
    if (idempotent !== true) refuse("idempotent is not a boolean");
    if (!METHODS.includes(method)) refuse(`it is idempotent, but its method is ${method}`);
    const sendsEvents = Object.values(responses).some((response) =>
      typeof response === "object" && response.contentType === EVENTS
    );
    if (sendsEvents) refuse("it is idempotent, but sends events, which are not stored");
    if (others.length > 0) refuse("it is idempotent, but several modules store answers");
    if (store) return store[answersOnce](name);
    return refuse(
      "it is idempotent, but no module stores its answers; import JobsModule.forRoot(Db)",
    );
  };
}
