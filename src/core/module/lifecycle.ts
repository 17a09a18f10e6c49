/**
 * What a provider, a guard or a controller may do at the beginning and the end of its application.
 * Hooks run one after another: dependencies first on the way up, last on the way down.
 *
 * @module
 */

/** Runs when all of the application's providers exist, before any request. */
export interface OnModuleInit {
  /** Prepares the instance; awaited. */
  onModuleInit(): void | Promise<void>;
}

/** Runs when every `onModuleInit` is done, before any request. */
export interface OnApplicationBootstrap {
  /** Starts the instance's own work; awaited. */
  onApplicationBootstrap(): void | Promise<void>;
}

/** Runs when the application stops, after the last response. */
export interface OnApplicationShutdown {
  /** Ends the instance's own work; awaited. The signal is there if one stopped the process. */
  onApplicationShutdown(signal?: string): void | Promise<void>;
}

/** Runs when every `onApplicationShutdown` is done. `[Symbol.asyncDispose]` runs after that. */
export interface OnModuleDestroy {
  /** Releases what the instance holds; awaited. */
  onModuleDestroy(): void | Promise<void>;
}

type Hook =
  | "onModuleInit"
  | "onApplicationBootstrap"
  | "onApplicationShutdown"
  | "onModuleDestroy"
  | typeof Symbol.asyncDispose;

/** Runs the hooks of the way up. The first failure ends it. */
export async function runStartHooks(instances: readonly object[]): Promise<void> {
  for (const hook of ["onModuleInit", "onApplicationBootstrap"] as const) {
    for (const instance of instances) await run(instance, { hook });
  }
}

/**
 * Runs the hooks of the way down, all of them even when some fail.
 *
 * @throws {AggregateError} what the hooks threw
 */
export async function runStopHooks(instances: readonly object[], signal?: string): Promise<void> {
  const errors: unknown[] = [];
  for (
    const hook of ["onApplicationShutdown", "onModuleDestroy", Symbol.asyncDispose] as const
  ) {
    for (const instance of instances.toReversed()) {
      try {
        await run(instance, { hook, signal });
      } catch (error) {
        errors.push(error);
      }
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "Cannot stop cleanly: a hook failed");
}

async function run(
  instance: object,
  { hook, signal }: { readonly hook: Hook; readonly signal?: string | undefined },
): Promise<void> {
  const method = (instance as Partial<Record<Hook, unknown>>)[hook];
  if (typeof method === "function") await method.call(instance, signal);
}
