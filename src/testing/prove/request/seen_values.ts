/**
 * Values of answers, from which later requests take some.
 *
 * @module
 */
import type { NamedValues } from "./planned_request.ts";

/** How many values of a name are kept. */
const MAX_VALUES = 50;

/** How many objects of an answer are noted, the outer ones first. */
const MAX_OBJECTS = 30;

/** A value, and where it was seen. */
export interface SeenValue {
  /** The name that a request has for it. */
  readonly name: string;
  /** The number of the request whose answer has it. */
  readonly from: number;
  /** The property, and which of the objects of the answer has it. */
  readonly property: string;
  readonly index: number;
  readonly value: unknown;
}

/** Values of answers by the names of their properties. */
export class SeenValues implements NamedValues {
  readonly #byName = new Map<string, Omit<SeenValue, "name">[]>();
  /** Those that were picked since it was emptied. */
  picked: SeenValue[] = [];

  /** Keeps the values of an answer, by the number of its request. */
  note(json: unknown, from: number): void {
    const objects = objectsIn(json);
    // the outer ones last, so that they are the first to be picked
    for (const [index, object] of [...objects.entries()].toReversed()) {
      for (const [property, value] of Object.entries(object)) {
        if (typeof value === "object") continue;
        // libraries count characters beyond the BMP differently, and no URL has half of one
        if (typeof value === "string" && /[\ud800-\udfff]/.test(value)) continue;
        const values = this.#byName.get(property) ?? [];
        values.unshift({ from, property, index, value });
        this.#byName.set(property, values.slice(0, MAX_VALUES));
      }
    }
  }

  /** Whether there is one of a name. */
  has(name: string): boolean {
    return this.#valuesOf(name).length > 0;
  }

  /** Returns one of the values of a name; the last first. */
  pick(name: string, which: number): unknown {
    const values = this.#valuesOf(name);
    const seen = values[which % values.length];
    if (seen) this.picked.push({ name, ...seen });
    return seen?.value;
  }

  /** Returns the last values of a name. */
  latest(name: string, count: number): readonly SeenValue[] {
    return this.#valuesOf(name).slice(0, count).map((seen) => ({ name, ...seen }));
  }

  /** Returns the value that a request, when it is sent again, has in place of one that was seen. */
  again({ from, property, index }: SeenValue): unknown {
    return this.#byName.get(property)?.find((each) => each.from === from && each.index === index)
      ?.value;
  }

  /** A `user_id` in one place is the `id` of a user in another, a `cursor` the `next` of a page. */
  #valuesOf(name: string): readonly Omit<SeenValue, "name">[] {
    return this.#byName.get(name === "cursor" ? "next" : name) ??
      (/[a-z\d](?:_id|Id)$/.test(name) ? this.#byName.get("id") : undefined) ?? [];
  }
}

/** The values of requests that are sent again, in place of those that they had at first. */
export class RepeatedValues implements NamedValues {
  readonly #picked: readonly SeenValue[];
  readonly #seen: SeenValues;

  /** Takes what a request had picked, and what was seen since. */
  constructor(picked: readonly SeenValue[], seen: SeenValues) {
    this.#picked = picked;
    this.#seen = seen;
  }

  /** Whether the request had picked one of a name. */
  has(name: string): boolean {
    return this.#picked.some((each) => each.name === name);
  }

  /** Returns the value in place of the one that it had picked. */
  pick(name: string): unknown {
    const picked = this.#picked.find((each) => each.name === name);
    return picked && (this.#seen.again(picked) ?? picked.value);
  }
}

/** Returns the objects in a value, those of lists and objects too, the outer ones first. */
function objectsIn(json: unknown): readonly object[] {
  const objects: object[] = [];
  const waiting = [json];
  for (const value of waiting) {
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) objects.push(value);
    if (objects.length === MAX_OBJECTS) break;
    waiting.push(...Object.values(value));
  }
  return objects;
}
