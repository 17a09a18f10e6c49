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
    const { certain, possible } = expectedLists(last);
    for (const keys of trialsOf(possible)) {
      const trial = await withLists(schema, fields, [...certain, ...keys]);
      if (!trial.result.issues) return trial;
    }
    if (certain.length === 0) break;
    last = await withLists(schema, fields, certain);
    if (!last.result.issues) break;
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

/** The names of single fields, one of which may be a list. */
interface ExpectedLists {
  /** Those for which a list was expected. */
  readonly certain: readonly string[];
  /** Those for which a branch of a union of objects expected one; others may expect a text. */
  readonly possible: readonly string[];
}

function expectedLists({ fields, result: { issues = [] } }: ValidatedFields): ExpectedLists {
  /** Returns the names in the issues of a place, those of branches at it included. */
  const namesAt = (depth: number) => {
    const found = issues.filter(({ path = [] }) => path.length === depth);
    const names = found.flatMap((issue) => [issue, ...inBranches(issue)]).filter(isOfList)
      .flatMap(({ path = [] }) => path.length === 1 ? [nameOf(path[0])] : [])
      .filter((name) => Object.hasOwn(fields, name) && !Array.isArray(fields[name]));
    return [...new Set(names)];
  };
  return { certain: namesAt(1), possible: namesAt(0) };
}

/** Returns the sets of fields that are tried as lists: all together, and each alone. */
function trialsOf(possible: readonly string[]): readonly (readonly string[])[] {
  if (possible.length < 2) return [possible].filter(({ length }) => length > 0);
  return [possible, ...possible.slice(0, MAX_ALONE).map((name) => [name])];
}

function nameOf(segment: PropertyKey | StandardSchemaV1.PathSegment | undefined): string {
  return String(typeof segment === "object" ? segment.key : segment);
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
