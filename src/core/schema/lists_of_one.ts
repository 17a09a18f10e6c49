/**
 * Fields that may repeat, of queries and forms: one that does not is a list of one where the schema takes
 * nothing else.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";

/** Fields as they were sent. */
type Fields = Readonly<Record<string, unknown>>;

/** What a schema says of fields, some of which may have become lists. */
interface Judgement {
  /** The fields. */
  readonly fields: Fields;
  /** What the schema says of them. */
  readonly result: StandardSchemaV1.Result<unknown>;
}

/** How often it is asked again: a schema may tell of one refusal at a time. */
const MAX_ROUNDS = 8;

/** Judges fields that were refused again, with lists in place of single values where lists are expected. */
export async function withListsOfOne(
  schema: StandardSchemaV1,
  judgement: Judgement,
): Promise<Judgement> {
  let { fields, result } = judgement;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const lists = expectedLists(result).filter((key) =>
      Object.hasOwn(fields, key) && !Array.isArray(fields[key])
    );
    if (lists.length === 0) break;
    fields = { ...fields, ...Object.fromEntries(lists.map((key) => [key, [fields[key]]])) };
    result = await schema["~standard"].validate(fields);
  }
  return { fields, result };
}

/** Gives the fields that were refused for being no lists. */
function expectedLists({ issues = [] }: StandardSchemaV1.Result<unknown>): readonly string[] {
  return issues.filter(expectsList).map(({ path = [] }) => Array.from(path)).filter(({ length }) =>
    length === 1
  ).map(([segment]) => String(typeof segment === "object" ? segment.key : segment));
}

/** Tells by what valibot, zod and arktype each say that they expected, alone or as one of several. */
function expectsList(issue: object): boolean {
  const { expected, errors } = issue as { readonly expected?: unknown; readonly errors?: unknown };
  if (/\b(Array|array|tuple)\b|^an object or /.test(String(expected ?? ""))) return true;
  return Array.isArray(errors) && // the branches of a union of zod
    errors.flat().some((each) => each?.path?.length === 0 && expectsList(each));
}
