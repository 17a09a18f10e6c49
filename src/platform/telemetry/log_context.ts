/**
 * The properties that all log lines of some work have, such as of a job. Keeping them needs a
 * module of Node.js that the core does not import, so that a layer sets how. It is state of the
 * process, as in `request_scope.ts`.
 *
 * @module
 */
import type { ContextLocalStorage } from "@logtape/logtape";

/** Keeps the properties of log lines. */
export type LogContext = ContextLocalStorage<Record<string, unknown>>;

let context: LogContext | undefined;

/** Sets what keeps the properties; later calls have no effect. */
export function keepLogContext(storage: LogContext): void {
  context ??= storage;
}

/** Keeps properties if a layer has set how. */
export const logContext: LogContext = {
  run: (store, callback) => context ? context.run(store, callback) : callback(),
  getStore: () => context?.getStore(),
};
