/** Compiles only if the two types are the same. */
export function same<A, B>(
  ..._: (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? [] : [never]
): void {}
