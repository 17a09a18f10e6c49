/**
 * Lifecycle hooks of providers, guards and controllers. They run one after another: those of
 * dependencies first at the start, last at the stop.
 *
 * @module
 */

import type { Meter } from "../../platform/telemetry/meter.ts";
import { within } from "../../platform/time_limit.ts";

/** Runs when all of the application's providers exist, before any request. */
export interface OnModuleInit {
  /** Prepares the instance; awaited. It receives all instances of the application. */
  onModuleInit(instances?: readonly object[]): void | Promise<void>;
}

/** Runs when every `onModuleInit` is done, before any request. */
export interface OnApplicationBootstrap {
  /** Starts the work of the instance; awaited. It receives all instances of the application. */
  onApplicationBootstrap(instances?: readonly object[]): void | Promise<void>;
}

/** How work is started that no request begins. */
export interface WorkersStart {
  /** Whether the application serves HTTP: `listen` starts the work, not `startWorkers`. */
  readonly isServing: boolean;
}

/**
 * Runs when the application first listens, and when `app.startWorkers()` is first called: twice if
 * both happen.
 */
export interface OnWorkersStart {
  /** Starts work that no request begins, such as that of a queue; awaited. */
  onWorkersStart(start: WorkersStart): void | Promise<void>;
}

/** How the work of an application stops. */
export interface WorkersStop {
  /** How long to wait for what runs, in milliseconds. */
  readonly drainMs: number;
  /** Whether the process ends because of an error that nothing has caught; default `false`. */
  readonly hasFailed?: boolean | undefined;
}

/** Runs when the application begins to stop, while connections are drained. */
export interface OnWorkersStop {
  /** Begins no more work, and waits for what runs, for at most `drainMs` milliseconds. */
  onWorkersStop(stop: WorkersStop): void | Promise<void>;
}

/** Runs once the application has metrics: see `app.enableMetrics()`. */
export interface OnMetrics {
  /** Creates the metrics of the instance. */
  onMetrics(meter: Meter): void;
}

/** Runs when the application stops, after the last response. */
export interface OnApplicationShutdown {
  /**
   * Ends the work of the instance; awaited. `signal` names the signal that stopped the
   * process, if any.
   */
  onApplicationShutdown(signal?: string): void | Promise<void>;
}

/** Runs when every `onApplicationShutdown` is done. `[Symbol.asyncDispose]` runs after that. */
export interface OnModuleDestroy {
  /** Releases the resources of the instance; awaited. */
  onModuleDestroy(): void | Promise<void>;
}

type Hook =
  | "onModuleInit"
  | "onApplicationBootstrap"
  | "onApplicationShutdown"
  | "onModuleDestroy"
  | typeof Symbol.asyncDispose;

/** Runs the start hooks, each until it has succeeded once. */
export class StartHooks {
  readonly #done = {
    onModuleInit: new WeakSet<object>(),
    onApplicationBootstrap: new WeakSet<object>(),
  };

  /** Runs the hooks that have not succeeded, until one fails. */
  async run(instances: readonly object[]): Promise<void> {
    for (const hook of ["onModuleInit", "onApplicationBootstrap"] as const) {
      const done = this.#done[hook];
      for (const instance of instances.filter((each) => !done.has(each))) {
        await run(instance, { hook, argument: instances });
        done.add(instance);
      }
    }
  }
}

/** Options of {@linkcode runStopHooks}. */
export interface StopHookOptions {
  /** The signal that stopped the process, if any. */
  readonly signal?: string | undefined;
  /** How long each hook may take, in milliseconds; default 30 000. */
  readonly hookMs?: number;
}

/**
 * Runs all stop hooks, even if some fail, or do not finish in time.
 *
 * @throws {AggregateError} with the errors of the hooks
 */
export async function runStopHooks(
  instances: readonly object[],
  { signal, hookMs = 30_000 }: StopHookOptions = {},
): Promise<void> {
  const errors: unknown[] = [];
  for (
    const hook of ["onApplicationShutdown", "onModuleDestroy", Symbol.asyncDispose] as const
  ) {
    for (const instance of instances.toReversed()) {
      try {
        const running = run(instance, { hook, argument: signal });
        if (!await within(running, hookMs)) errors.push(tooLate(instance, { hook, hookMs }));
      } catch (error) {
        errors.push(error);
      }
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "Cannot stop cleanly: a hook failed");
}

function tooLate(
  { constructor: { name } }: object,
  { hook, hookMs }: { readonly hook: Hook; readonly hookMs: number },
): Error {
  return new Error(`Cannot stop ${name}: ${String(hook)} has not finished within ${hookMs} ms`);
}

async function run(
  instance: object,
  { hook, argument }: { readonly hook: Hook; readonly argument: unknown },
): Promise<void> {
  const method = (instance as Partial<Record<Hook, unknown>>)[hook];
  if (typeof method === "function") await method.call(instance, argument);
}
