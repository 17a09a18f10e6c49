/**
 * The part `contract`: the document, compared with an earlier one.
 *
 * @module
 */
import type { Failure, Part, PartResult, ProveContext } from "../part.ts";
import { withStarted } from "../started_document.ts";
import type { Change } from "./change.ts";
import { compareDocuments } from "./compare_documents.ts";
import { ContractDocument } from "./contract_document.ts";

/** How many changes that break nothing are listed. */
const MAX_NOTES = 20;

/** Compares the document of the application with the base. */
export const contractPart: Part = { name: "contract", run };

async function run({ base, ...context }: ProveContext): Promise<PartResult> {
  if (!base) throw new TypeError("Cannot prove contract: there is no base to compare with");
  const document = await withStarted(context, (_, json) => json);
  const changes = compareDocuments(base.document, document);
  const breaking = changes.filter(({ isBreaking }) => isBreaking);
  return {
    checked: `${new ContractDocument(base.document).operations.size} operations of ${base.name}`,
    outcome: "compatible",
    failures: breaking.map(failureOf),
    notes: notesOf(changes.filter(({ isBreaking }) => !isBreaking)),
  };
}

function failureOf(change: Change): Failure {
  return {
    subject: change.operation,
    message: `${textOf(change)} (breaking)`,
    details: [change.reason],
  };
}

/** Lists changes that break nothing. */
function notesOf(changes: readonly Change[]): readonly string[] {
  const lines = changes.map((change) => `${change.operation}: ${textOf(change)}`);
  if (lines.length <= MAX_NOTES) return lines;
  const more = `and ${lines.length - MAX_NOTES} more changes that break nothing`;
  return [...lines.slice(0, MAX_NOTES), more];
}

function textOf({ where, change }: Change): string {
  return [where, change].filter((text) => text !== "").join(" ");
}
