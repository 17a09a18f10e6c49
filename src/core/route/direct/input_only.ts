/**
 * Whether a handler can receive the context.
 *
 * @module
 */

/**
 * An arrow function without parameters, with one name, or with one pattern of names, such as
 * `({ params: { id }, body }) =>`.
 */
const INPUT_ONLY =
  /^(?:async\s*)?(?:[\w$]+|\(\s*(?:[\w$]+|\{(?:[\w$\s,:]|\{[\w$\s,:]*\})*\})?\s*,?\s*\))\s*=>/;

/**
 * Checks by its source whether a handler takes the input alone. It returns `false` for any source
 * that it does not know, such as that of a function with `arguments`, defaults or a rest parameter:
 * its handler gets a context.
 */
export function takesInputOnly(handler: (...args: never[]) => unknown): boolean {
  return INPUT_ONLY.test(Function.prototype.toString.call(handler));
}
