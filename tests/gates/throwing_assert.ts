/**
 * Makes `console.assert` throw, so that an example whose assertion is wrong fails: on its own it prints,
 * and quiet tests do not even show that.
 *
 * @module
 */
console.assert = (isSo?: boolean, ...what: readonly unknown[]): void => {
  if (!isSo) throw new Error(`Cannot confirm the example: ${what.join(" ") || "it asserts false"}`);
};
