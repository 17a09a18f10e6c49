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

/** Judges fields that were refused once more, with lists in place of what was refused and is none. */
export async function withListsOfOne(
  schema: StandardSchemaV1,
  { fields, result }: Judgement,
): Promise<Judgement> {
  const single = refusedKeys(result).filter((key) => key in fields && !Array.isArray(fields[key]));
  if (single.length === 0) return { fields, result };
  const again = await judge(schema, withLists(fields, single));
  const stillRefused = refusedKeys(again.result);
  if (stillRefused.length === 0) return again;
  const lists = single.filter((key) => !stillRefused.includes(key));
  return lists.length > 0 ? await judge(schema, withLists(fields, lists)) : { fields, result };
}

async function judge(schema: StandardSchemaV1, fields: Fields): Promise<Judgement> {
  return { fields, result: await schema["~standard"].validate(fields) };
}

/** Gives the fields that were refused themselves, not for what they hold. */
function refusedKeys({ issues = [] }: StandardSchemaV1.Result<unknown>): readonly string[] {
  const paths = issues.map(({ path = [] }) => Array.from(path));
  return paths.filter(({ length }) => length === 1).map(([segment]) =>
    String(typeof segment === "object" ? segment.key : segment)
  );
}

function withLists(fields: Fields, keys: readonly string[]): Fields {
  return { ...fields, ...Object.fromEntries(keys.map((key) => [key, [fields[key]]])) };
}
