/**
 * The framework's own middleware: what it does before and after the rest of a request. Neighbours
 * are joined to one function, as each asynchronous function costs a request several promises.
 *
 * @module
 */
import type { MiddlewareHandler, Next } from "hono";
import type { Context } from "../http/context.ts";
import { asError } from "../http/http_exception.ts";

/** What the rest of a request threw; its response does not exist yet. */
export interface Failure {
  /** The error, or any other value. */
  readonly thrown: unknown;
}

/** What runs before and after the rest of a request. */
export interface RequestHooks<State = unknown> {
  /** Runs before the rest; its result is the state that the other hooks get. */
  readonly before: (c: Context) => State | Promise<State>;
  /**
   * Whether `before` refuses requests. Such hooks begin a function of their own, so that the hooks
   * before them see the response to the refusal.
   */
  readonly refuses?: boolean;
  /** Runs the rest, in place of `next()`, with the hooks of all middleware that follows. */
  readonly around?: (next: Next, state: State) => Promise<void>;
  /** Runs when the response exists or the rest has failed, in reverse order. */
  readonly after?: (c: Context, state: State, failure?: Failure) => void;
}

const HOOKS = Symbol("fw.requestHooks");

/** Middleware that consists of hooks. */
interface HookedMiddleware extends MiddlewareHandler {
  readonly [HOOKS]: readonly RequestHooks[];
}

/** Returns middleware that consists of hooks; whatever `before` throws, it throws an `Error`. */
export function hooked<State>(hooks: RequestHooks<State>): MiddlewareHandler {
  return inOne([hooks as RequestHooks]); // a state is passed only to the hooks that returned it
}

/** Joins neighbouring middleware that consists of hooks, where that changes nothing else. */
export function joinHooked(middleware: readonly MiddlewareHandler[]): readonly MiddlewareHandler[] {
  const joined: MiddlewareHandler[] = [];
  for (const each of middleware) {
    const last = joined.at(-1);
    if (last && isHooked(last) && isHooked(each) && mayJoin(last, each)) {
      joined[joined.length - 1] = inOne([...last[HOOKS], ...each[HOOKS]]);
    } else joined.push(each);
  }
  return joined;
}

function inOne(all: readonly RequestHooks[]): HookedMiddleware {
  async function hookedMiddleware(c: Context, next: Next): Promise<void> {
    const states: unknown[] = [];
    try {
      for (const { before } of all) {
        const state = before(c);
        states.push(state instanceof Promise ? await state : state);
      }
      await all.reduceRight<Next>(
        (rest, { around }, index) => around ? () => around(rest, states[index]) : rest,
        next,
      )();
    } catch (thrown) {
      finish(c, states, { thrown });
      throw states.length < all.length ? asError(thrown) : thrown; // Hono handles only errors
    }
    finish(c, states);
  }

  /** Runs the last hooks of those whose first hooks have succeeded. */
  function finish(c: Context, states: readonly unknown[], failure?: Failure): void {
    let failed: Failure | undefined;
    for (let i = states.length - 1; i >= 0; i--) {
      try {
        all[i]?.after?.(c, states[i], failed ?? failure);
      } catch (thrown) {
        failed = { thrown };
      }
    }
    if (failed) throw asError(failed.thrown);
  }
  return Object.assign(hookedMiddleware, { [HOOKS]: all });
}

function mayJoin(last: HookedMiddleware, next: HookedMiddleware): boolean {
  return !last[HOOKS].at(-1)?.around && !next[HOOKS][0]?.refuses;
}

function isHooked(middleware: MiddlewareHandler): middleware is HookedMiddleware {
  return HOOKS in middleware;
}
