/**
 * Fields that can repeat: one that is sent once is a text where its schema expects a list. It is
 * loaded by the first query or form that is refused.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expectsList } from "./schema_libraries.ts";

/** The maximum number of validations with lists of one: a schema may report one issue at a time. */
const MAX_ROUNDS = 8;

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
  let { fields, result } = validated;
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

/** Returns the names of the fields for which a list was expected. */
function expectedLists({ issues = [] }: StandardSchemaV1.Result<unknown>): readonly string[] {
  return issues.filter(expectsList).map(({ path = [] }) => Array.from(path)).filter(({ length }) =>
    length === 1
  ).map(([segment]) => String(typeof segment === "object" ? segment.key : segment));
}
