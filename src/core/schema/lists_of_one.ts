/**
 * Fields that can repeat: one that is sent once is a text where its schema expects a list. It is
 * loaded by the first query or form that is refused.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { LibraryIssue } from "./libraries/schema_library.ts";
import { expectsList } from "./schema_libraries.ts";

/** The most rounds, as a schema may report one issue at a time. */
const MAX_ROUNDS = 8;
/** The most fields that are tried alone in a round. */
const MAX_ALONE = 8;

/** Fields of a query or form, with the result of their validation. */
export interface ValidatedFields {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly result: StandardSchemaV1.Result<unknown>;
}

/**
 * Validates refused fields again, with lists of one in place of single values where the schema
 * expects lists: a field that can repeat is not a list when it is sent once.
 */
export async function withListsOfOne(
  schema: StandardSchemaV1,
  validated: ValidatedFields,
): Promise<ValidatedFields> {
  let last = validated;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { fields } = last;
    const [all, ...others] = expectedLists(last);
    if (all === undefined) break;
    last = await withLists(schema, fields, all);
    for (const keys of last.result.issues ? others : []) {
      const other = await withLists(schema, fields, keys);
      if (!other.result.issues) return other;
    }
  }
  return last;
}

async function withLists(
  schema: StandardSchemaV1,
  single: ValidatedFields["fields"],
  keys: readonly string[],
): Promise<ValidatedFields> {
  const fields = { ...single, ...Object.fromEntries(keys.map((key) => [key, [single[key]]])) };
  return { fields, result: await schema["~standard"].validate(fields) };
}

/**
 * Returns the names of the single fields for which a list was expected, then other sets of them:
 * one branch of a union can expect a list where another expects a text.
 */
function expectedLists({ fields, result: { issues = [] } }: ValidatedFields): string[][] {
  const namesOf = (each: readonly LibraryIssue[]) =>
    each.filter(isOfList).filter(({ path }) => path?.length === 1)
      .map(({ path: [segment] = [] }) =>
        String(typeof segment === "object" ? segment.key : segment)
      )
      .filter((key) => Object.hasOwn(fields, key) && !Array.isArray(fields[key]));
  const certain = [...new Set(namesOf(issues))];
  const possible = [...new Set(namesOf(issues.flatMap((issue) => inBranches(issue))))];
  const others = [[], ...possible.slice(0, MAX_ALONE).map((key) => [key])];
  return [possible, ...possible.length > 0 ? others : []]
    .map((keys) => [...certain, ...keys]).filter((keys) => keys.length > 0);
}

/** Checks whether an issue expected a list; those of arktype cannot be read for some keys. */
function isOfList(issue: LibraryIssue): boolean {
  try {
    return expectsList(issue);
  } catch {
    return false;
  }
}

/** Returns the issues of the branches of a union, with paths from its root. */
function inBranches({ path = [], issues, errors }: LibraryIssue): readonly LibraryIssue[] {
  const branches = [issues ?? errors ?? []].flat(2) as LibraryIssue[]; // of valibot, of zod
  return branches.flatMap((issue) => {
    const at = { ...issue, path: [...path, ...issue.path ?? []] };
    return [at, ...inBranches(at)];
  });
}
