/**
 * Events and their handlers, without the types of payloads.
 *
 * @module
 */
import type { AnySchema } from "../core/schema/validation.ts";
import { JobHandler } from "./job_kind.ts";
import { fieldsOf } from "./provider_fields.ts";

/** An event, without the types of its payload. */
export interface EventKind {
  /** The name, which is stored with the jobs of its durable handlers. */
  readonly name: string;
  /** The schema of the payload. */
  readonly schema: AnySchema | undefined;
}

/** The first argument of a handler of an event. */
export interface EventInput<Body> {
  /** The payload: the output of its schema. */
  readonly body: Body;
}

/** A handler of an event that runs in the process that publishes it, as a field of a provider. */
export class EventHandler {
  /** The event. */
  readonly event: EventKind;
  /** Handles it. */
  readonly handle: (input: EventInput<unknown>) => unknown;

  /** Creates a handler; use `on` of the event. */
  constructor(event: EventKind, handle: (input: EventInput<unknown>) => unknown) {
    this.event = event;
    this.handle = handle;
  }
}

/** The handlers of an event. */
export interface HandlersOfEvent {
  /** Those that run in the process, with the names of their fields, such as `Mailer.placed`. */
  readonly inProcess: Map<EventHandler, string>;
  /** Those that are durable. */
  readonly durable: Set<JobHandler>;
}

/** Returns the handlers among the fields of instances, by the names of their events. */
export function eventHandlersIn(
  instances: readonly object[],
): ReadonlyMap<string, HandlersOfEvent> {
  const events = new Map<string, HandlersOfEvent>();
  function handlersOf(name: string): HandlersOfEvent {
    const handlers = events.get(name) ?? { inProcess: new Map(), durable: new Set() };
    events.set(name, handlers);
    return handlers;
  }
  for (const { owner, value } of fieldsOf(instances)) {
    if (value instanceof EventHandler) {
      handlersOf(value.event.name).inProcess.set(value, owner);
    } else if (value instanceof JobHandler && value.job.event !== undefined) {
      handlersOf(value.job.event).durable.add(value);
    }
  }
  return events;
}
