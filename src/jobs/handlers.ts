/**
 * Finds the handlers of jobs.
 *
 * @module
 */
import { JobHandler } from "./job_kind.ts";
import { fieldsOf } from "./provider_fields.ts";
import { Schedule } from "./schedules/schedule.ts";

/**
 * Returns the handlers among the fields of instances, those of schedules included, by the names of
 * their kinds.
 *
 * @throws {TypeError} if two are of the same kind, or a schedule needs a name
 */
export function handlersIn(instances: readonly object[]): ReadonlyMap<string, JobHandler> {
  const handlers = new Map<string, JobHandler>();
  const owners = new Map<string, string>();
  for (const { owner, value } of fieldsOf(instances)) {
    const handler = value instanceof Schedule ? value.handlerOf(owner) : value;
    if (!(handler instanceof JobHandler)) continue;
    const { name } = handler.job;
    if (handlers.has(name)) {
      throw new TypeError(`Cannot handle ${name}: ${owners.get(name)} and ${owner} both do`);
    }
    handlers.set(name, handler);
    owners.set(name, owner);
  }
  return handlers;
}
