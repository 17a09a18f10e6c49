/**
 * Bounds the logged form of a value: an error can refer to the whole input of a client, many times.
 *
 * @module
 */
import { INSPECTORS } from "../../platform/secret.ts";

/** The most characters of a value, and of a message, a stack and another text in it. */
const MAX_CHARACTERS = 12 * 1024;
const MAX_MESSAGE = 4 * 1024;
const MAX_STACK = 8 * 1024;
const MAX_TEXT = 1024;

/** The most properties or items of a value, and of all values in it. */
const MAX_ENTRIES = 20;
const MAX_ALL_ENTRIES = 200;

/** The most errors in a value: causes, and those of an `AggregateError`. */
const MAX_ERRORS = 8;

/** How many levels of properties a value has. */
const MAX_DEPTH = 4;

/** Returns the text that a log has in place of an object's properties, or `undefined`. */
export type ShowItself = (value: object) => unknown;

/** A text that is printed as it is. */
export class Verbatim {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    for (const symbol of INSPECTORS) Object.defineProperty(this, symbol, { value: () => text });
  }

  /** Returns the text. */
  toJSON(): string {
    return this.#text;
  }
}

/** Objects whose contents are not logged. */
const OBJECT = new Verbatim("[Object]");
const ARRAY = new Verbatim("[Array]");

/**
 * Returns a copy of a value that is bounded before it is formatted, with an error for each error.
 * An issue of a validation has only its message and its path, as its other members contain the
 * submitted value. What cannot be read is replaced.
 */
export function loggedValue(value: unknown, showItself: ShowItself): unknown {
  if (typeof value === "object" && value !== null) return new Copy(showItself).of(value, MAX_DEPTH);
  return typeof value === "string" ? shortened(value, MAX_MESSAGE) : value;
}

/** An object whose properties are copied. */
interface Source {
  readonly source: object;
  /** How many levels of them. */
  readonly depth: number;
}

/** Copies one value, and counts what it contains. */
class Copy {
  readonly #showItself: ShowItself;
  #characters = MAX_CHARACTERS;
  #entries = MAX_ALL_ENTRIES;
  #errors = MAX_ERRORS;

  constructor(showItself: ShowItself) {
    this.#showItself = showItself;
  }

  of(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "function") return "[function]";
    if (typeof value !== "object" || value === null) return value;
    try {
      const shown = this.#showItself(value);
      if (shown instanceof Verbatim) return new Verbatim(this.#text(shown.toJSON(), MAX_MESSAGE));
      if (shown !== undefined) return depth > 0 ? this.of(shown, depth - 1) : OBJECT;
      return value instanceof Error ? this.#error(value, depth) : this.#object(value, depth);
    } catch {
      return "[unreadable]";
    }
  }

  #text(text: string, max = MAX_TEXT): string {
    const length = Math.min(max, this.#characters);
    this.#characters -= Math.min(text.length, length);
    return shortened(text, length);
  }

  #error(error: Error, depth: number): unknown {
    if (this.#errors-- <= 0) return "[more errors]";
    const whole = textOf(() => error.message) ?? "";
    const message = this.#text(whole, MAX_MESSAGE);
    const name = textOf(() => error.name) ?? "Error";
    // the frames are after the message
    const stack = textOf(() => error.stack?.replace(whole, () => message)) || `${name}: ${message}`;
    const copy = error instanceof AggregateError && Array.isArray(error.errors)
      ? new AggregateError(this.#list(error.errors, depth), message)
      : new Error(message);
    Object.setPrototypeOf(copy, Object.getPrototypeOf(error)); // its class is printed
    define(copy, { name, stack: this.#text(stack, MAX_STACK) });
    const { cause } = error;
    if (cause !== undefined) define(copy, { cause: this.of(cause, depth) });
    return this.#withEntries(copy, { source: error, depth });
  }

  #object(value: object, depth: number): unknown {
    if (isIssue(value)) return this.#issue(value);
    const tag = Object.prototype.toString.call(value);
    if (tag === "[object Date]") return value;
    if (depth <= 0) return Array.isArray(value) ? ARRAY : OBJECT;
    if (Array.isArray(value)) return this.#list(value, depth);
    if (value instanceof Map || value instanceof Set) return this.#list([...value], depth);
    if (tag !== "[object Object]") return tag; // such as bytes
    const copy = Object.create(Object.getPrototypeOf(value));
    return this.#withEntries(copy, { source: value, depth });
  }

  #issue({ message, path }: Issue): object {
    const keys = Array.from(path ?? []).slice(0, MAX_ENTRIES).map(keyOf);
    return { message: this.#text(message), path: this.#text(keys.join(".")) };
  }

  #list(items: readonly unknown[], depth: number): unknown[] {
    const length = this.#room(items.length);
    const copy = items.slice(0, length).map((item) => this.of(item, depth - 1));
    return length < items.length ? [...copy, `... (${items.length - length} more)`] : copy;
  }

  /** Adds copies of the properties of an object that the copy does not have. */
  #withEntries<T extends object>(copy: T, { source, depth }: Source): T {
    const keys = Object.keys(source).filter((key) => !Object.hasOwn(copy, key));
    const length = depth > 0 ? this.#room(keys.length) : 0;
    const members: Record<string, unknown> = Object.create(null); // `__proto__` is a name, too
    for (const key of keys.slice(0, length)) {
      members[this.#text(key)] = this.#member(key, { source, depth });
    }
    if (length < keys.length) members["..."] = `(${keys.length - length} more)`;
    return define(copy, members, { enumerable: true });
  }

  #member(key: string, { source, depth }: Source): unknown {
    try {
      return this.of(Reflect.get(source, key), depth - 1);
    } catch {
      return "[unreadable]";
    }
  }

  /** Returns how many of some entries are copied, which it counts. */
  #room(entries: number): number {
    const room = Math.min(entries, MAX_ENTRIES, this.#entries);
    this.#entries -= room;
    return room;
  }
}

/** The part of the issues of Standard Schema that is logged. */
interface Issue {
  readonly message: string;
  readonly path?: Iterable<unknown> | null;
}

/** Checks whether an object is an issue: those of valibot and zod contain the `input`. */
function isIssue(value: object): value is Issue {
  const { message, path, input } = value as Issue & { readonly input?: unknown };
  return typeof message === "string" && (Array.isArray(path) || input !== undefined);
}

function keyOf(segment: unknown): string {
  return String((segment as { readonly key?: unknown } | null)?.key ?? segment);
}

function define<T extends object>(
  object: T,
  members: Readonly<Record<string, unknown>>,
  { enumerable = false }: { readonly enumerable?: boolean } = {},
): T {
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(object, key, { value, enumerable, configurable: true, writable: true });
  }
  return object;
}

function shortened(text: string, max: number): string {
  return text.length <= max
    ? text
    : `${text.slice(0, max)}... (${text.length - max} more characters)`;
}

/** Returns a text, or `undefined` if reading it throws. */
function textOf(read: () => unknown): string | undefined {
  try {
    const text = read();
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
