/**
 * The fields of providers, among which are handlers.
 *
 * @module
 */

/** A field of a provider. */
export interface ProviderField {
  /** Its name and that of the class, such as `Mailer.placed`; without a class, its own. */
  readonly owner: string;
  /** Its value; `undefined` for a getter, which is not called. */
  readonly value: unknown;
}

/** Returns the fields of instances. */
export function* fieldsOf(instances: readonly object[]): Generator<ProviderField> {
  for (const instance of instances) {
    const { constructor } = instance as Partial<object>; // a module and a null prototype have none
    for (const [field, { value }] of Object.entries(Object.getOwnPropertyDescriptors(instance))) {
      yield { owner: constructor ? `${constructor.name}.${field}` : field, value };
    }
  }
}
