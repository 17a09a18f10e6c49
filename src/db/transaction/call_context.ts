/**
 * What a call depends on: the handler on whose behalf it runs, and what it is inside in each
 * database, such as a transaction.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Handling } from "./execution.ts";

/** A scope that the call is inside, and the one around it. */
interface Entered {
  readonly scopes: object;
  readonly scope: unknown;
  readonly outer: Entered | undefined;
}

interface CallContext {
  readonly handling: Handling | undefined;
  readonly entered: Entered | undefined;
}

/** One for all databases: every request enters it once. */
const contexts = new AsyncLocalStorage<CallContext>();

/** Whether the caller is inside a handler or a scope. */
export function isInsideCall(): boolean {
  return contexts.getStore() !== undefined;
}

/** Returns the handler on whose behalf the caller runs, if it is known. */
export function currentHandling(): Handling | undefined {
  return contexts.getStore()?.handling;
}

/** Runs work on behalf of a handler, or of none that is known. */
export function runHandling<T>(handling: Handling | undefined, work: () => T): T {
  return contexts.run({ handling, entered: contexts.getStore()?.entered }, work);
}

/** The scopes of the calls of one database. */
export class CallScopes<S extends object> {
  /** The scope that the caller is inside, if any. */
  get current(): S | undefined {
    let entered = contexts.getStore()?.entered;
    while (entered && entered.scopes !== this) entered = entered.outer;
    return entered?.scope as S | undefined; // only `run` enters it
  }

  /** Runs work inside a scope. */
  run<T>(scope: S, work: () => T): T {
    const context = contexts.getStore();
    const entered = { scopes: this, scope, outer: context?.entered };
    return contexts.run({ handling: context?.handling, entered }, work);
  }
}
