/**
 * What `deno lint` checks beside its own rules.
 *
 * @module
 */

/** The most positional parameters of a function; the third is a context that everything shares. */
const MAX_POSITIONAL = 3;

/** What the newer runtimes have. */
const NEWER = [
  ["RegExp", "escape"],
  ["Promise", "try"],
  ["Error", "isError"],
  ["Math", "sumPrecise"],
  ["Iterator", "concat"],
] as const;

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression
  | Deno.lint.TSDeclareFunction;

const plugin: Deno.lint.Plugin = {
  name: "fw",
  rules: {
    "max-positional-params": {
      create(context) {
        function check(node: FunctionNode): void {
          const { length } = node.params;
          if (length <= MAX_POSITIONAL) return;
          context.report({
            node,
            message:
              `A function has at most ${MAX_POSITIONAL} positional parameters, not ${length}`,
            hint: "Take an options object, or make what the arguments share a class",
          });
        }
        return {
          FunctionDeclaration: check,
          FunctionExpression: check,
          ArrowFunctionExpression: check,
          TSDeclareFunction: check,
        };
      },
    },
    "node-22": {
      create(context) {
        return {
          ...Object.fromEntries(NEWER.map(([object, property]) => [
            `MemberExpression[object.name="${object}"][property.name="${property}"]`,
            (node: Deno.lint.MemberExpression) =>
              context.report({ node, message: `Node.js 22 has no ${object}.${property}` }),
          ])),
          'MemberExpression[object.name="URL"][property.name="canParse"]'(node) {
            context.report({
              node,
              message: "Compiled by Node.js 22, URL.canParse is false for a URL that is not ASCII",
              hint: "Use URL.parse, which is null for an invalid one",
            });
          },
        };
      },
    },
  },
};

export default plugin;
