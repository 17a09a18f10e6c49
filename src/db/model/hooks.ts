/**
 * Hooks: functions of a service that its repositories call with the rows that they write.
 *
 * @module
 */
import type { AnyModel } from "./model.ts";
import type { Row } from "./row.ts";

/** A row that was updated. */
export interface RowChange<M extends AnyModel> {
  /** The row before the update. */
  readonly before: Row<M>;
  /** The row after it. */
  readonly after: Row<M>;
}

/**
 * The hooks of a model, which run inside the transaction of a write: what they throw undoes it.
 * Each is called once for an operation, never with an empty list, and awaited; `upsertMany` calls
 * it for each row, and writes of related rows are operations of their own. `Db` is the service.
 */
export interface ModelHooks<M extends AnyModel, Db> {
  /** Runs after rows are created. */
  readonly created?: ((rows: readonly Row<M>[], db: Db) => unknown) | undefined;
  /** Runs after rows are updated, also if no value has changed. */
  readonly updated?: ((rows: readonly RowChange<M>[], db: Db) => unknown) | undefined;
  /** Runs after rows are deleted, or marked as deleted, or both. */
  readonly deleted?: ((rows: readonly Row<M>[], db: Db) => unknown) | undefined;
}

/** What hooks run after. */
export type HookEvent = keyof ModelHooks<AnyModel, unknown>;

/** The hooks of a table. */
export type TableHooks = { readonly [E in HookEvent]?: (rows: readonly unknown[]) => unknown };

const EVENTS: Readonly<Record<HookEvent, true>> = { created: true, updated: true, deleted: true };

/**
 * Checks the hooks of models.
 *
 * @throws {TypeError} if a model or an event is unknown, or a hook is not a function
 */
export function checkHooks(
  models: Readonly<Record<string, AnyModel>>,
  hooks: Readonly<Record<string, unknown>>,
): void {
  for (const [name, events] of Object.entries(hooks)) {
    if (!Object.hasOwn(models, name)) {
      throw new TypeError(`Cannot add hooks: there is no model ${JSON.stringify(name)}`);
    }
    if (events && models[name]!["~model"].primaryKey.length === 0) {
      throw new TypeError(`Cannot add hooks: ${name} has no key, and is read-only`);
    }
    for (const [event, hook] of Object.entries(events ?? {})) {
      if (!Object.hasOwn(EVENTS, event)) {
        throw new TypeError(`Cannot add hooks: ${name} takes no ${JSON.stringify(event)}`);
      }
      if (hook !== undefined && typeof hook !== "function") {
        throw new TypeError(`Cannot add hooks: ${name}.${event} is not a function`);
      }
    }
  }
}

/** Binds hooks to the service whose rows are written. */
export function bindHooks<Db>(
  hooks: ModelHooks<AnyModel, Db> | undefined,
  db: Db,
): TableHooks | undefined {
  const given = Object.entries(hooks ?? {}).filter(([, hook]) => hook !== undefined);
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map(([event, hook]) => [event, (rows: readonly never[]) => hook(rows, db)]),
  );
}
