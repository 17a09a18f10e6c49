/**
 * Generators whose errors name what they generate for.
 *
 * @module
 */
import fc from "fast-check";

/** Generates the same values; an error while it does begins with a name. */
export function named<T>(arbitrary: fc.Arbitrary<T>, name: string): fc.Arbitrary<T> {
  return new NamedArbitrary(arbitrary, name);
}

class NamedArbitrary<T> extends fc.Arbitrary<T> {
  readonly #inner: fc.Arbitrary<T>;
  readonly #name: string;

  constructor(inner: fc.Arbitrary<T>, name: string) {
    super();
    this.#inner = inner;
    this.#name = name;
  }

  override generate(...given: Parameters<fc.Arbitrary<T>["generate"]>): fc.Value<T> {
    try {
      return this.#inner.generate(...given);
    } catch (cause) {
      const { message } = cause as Error; // keep() throws one
      throw new Error(`${this.#name}: ${message}`, { cause });
    }
  }

  override canShrinkWithoutContext(value: unknown): value is T {
    return this.#inner.canShrinkWithoutContext(value);
  }

  override shrink(value: T, context: unknown): fc.Stream<fc.Value<T>> {
    return this.#inner.shrink(value, context);
  }
}
