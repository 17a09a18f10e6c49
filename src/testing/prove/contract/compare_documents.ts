/**
 * Comparing an OpenAPI document with an earlier one.
 *
 * @module
 */
import { type Change, changed, type Place, type PlacedChange } from "./change.ts";
import type { Comparison } from "./compare_content.ts";
import { compareRequests, compareSchemes, compareSecurity } from "./compare_requests.ts";
import { compareResponses } from "./compare_responses.ts";
import { ContractDocument, type ContractOperation } from "./contract_document.ts";
import { endingOf } from "./deprecation.ts";
import type { Pair } from "./pair.ts";
import { SchemaComparer } from "./schema/compare_schemas.ts";

/** Options of {@linkcode compareDocuments}. */
export interface CompareOptions {
  /** Returns the time that sunsets are compared with; default the system's. */
  readonly now?: () => number;
}

/**
 * Compares a document of OpenAPI 3.1 with an earlier one, the base: a change is breaking if a
 * client of the base may fail. Texts, examples, tags, links, callbacks and webhooks are not
 * compared.
 *
 * @throws {TypeError} if one is of another version, or has an invalid reference
 */
export function compareDocuments(
  base: unknown,
  current: unknown,
  { now = Date.now }: CompareOptions = {},
): readonly Change[] {
  const documents = { base: new ContractDocument(base), current: new ContractDocument(current) };
  const schemas = new SchemaComparer({
    base: documents.base.shapes,
    current: documents.current.shapes,
    now: now(),
  });
  const comparison = { ...documents, schemas };
  const [was, is] = [documents.base.operations, documents.current.operations];
  return [
    ...named("API", [...compareServers(comparison), ...compareSchemes(comparison)]),
    ...[...was].flatMap(([key, operation]) => {
      const becomes = is.get(key);
      const changes = becomes
        ? compareOperations({ base: operation, current: becomes }, comparison)
        : [removedOperation(operation, comparison)];
      return named(operation.name, changes);
    }),
    ...[...is].filter(([key]) => !was.has(key)).flatMap(([, { name }]) =>
      named(name, [changed(WHOLE, "operationAdded", "is new")])
    ),
  ];
}

const WHOLE: Place = { where: "", direction: "input" };

function compareOperations(
  { base, current }: Pair<ContractOperation>,
  comparison: Comparison,
): readonly PlacedChange[] {
  const [was, is] = [base.content, current.content];
  const isDeprecated = was.deprecated !== true && is.deprecated === true;
  return [
    ...isDeprecated ? [changed(WHOLE, "operationDeprecated", "is deprecated")] : [],
    ...was.operationId === is.operationId ? [] : [
      changed(WHOLE, "operationRenamed", `has the id ${is.operationId}, had ${was.operationId}`),
    ],
    ...compareSecurity({ base: base.security, current: current.security }, comparison),
    ...compareRequests({ base, current }, comparison),
    ...compareResponses({ base: base.responses, current: current.responses }, comparison),
  ];
}

function removedOperation({ content }: ContractOperation, { schemas }: Comparison): PlacedChange {
  const rules = {
    none: "operationRemoved",
    ended: "operationEnded",
    early: "operationEndedEarly",
  } as const;
  const { kind, text } = endingOf(content, schemas.now);
  return changed(WHOLE, rules[kind], `is removed${text}`);
}

function compareServers({ base, current }: Comparison): readonly PlacedChange[] {
  const [was, is] = [base.servers, current.servers];
  return [
    ...was.filter((url) => !is.includes(url))
      .map((url) => changed(WHOLE, "serverRemoved", `lost the server ${url}`)),
    ...is.filter((url) => !was.includes(url))
      .map((url) => changed(WHOLE, "serverAdded", `gained the server ${url}`)),
  ];
}

function named(operation: string, changes: readonly PlacedChange[]): readonly Change[] {
  return changes.map((change) => ({ operation, ...change }));
}
