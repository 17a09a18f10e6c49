/**
 * Constants of queries within statements that write.
 *
 * @module
 */
import {
  type BinaryOperationNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  sql,
  ValueNode,
} from "kysely";

/** One, as a number that the server computes when it runs a statement. */
const ONE = sql`sign(connection_id())`.toOperationNode();

/** Writes the `1` of the constants `1 = 0` and `1 = 1` as {@linkcode ONE}. */
class ConstantTransformer extends OperationNodeTransformer {
  protected override transformBinaryOperation(node: BinaryOperationNode): BinaryOperationNode {
    const copy = super.transformBinaryOperation(node);
    return isOne(node.leftOperand) ? { ...copy, leftOperand: ONE } : copy;
  }
}

const TRANSFORMER = new ConstantTransformer();

/**
 * Keeps MySQL from deciding constant conditions, such as that of an empty list, before it runs a
 * statement. It would leave out the subqueries beside them, and take the tables of those as read
 * outside the query that finds the rows to write (error 1093).
 */
export const LATE_CONSTANTS: KyselyPlugin = {
  transformQuery: ({ node }) => TRANSFORMER.transformNode(node),
  transformResult: ({ result }) => Promise.resolve(result),
};

function isOne(node: OperationNode): boolean {
  return ValueNode.is(node) && node.immediate === true && node.value === 1;
}
