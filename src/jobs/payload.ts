/**
 * The payloads of jobs and events: JSON that their schema accepts when they are enqueued or
 * published, and when they are handled.
 *
 * @module
 */
import { type AnySchema, isStandardSchema, issuesOf } from "../core/schema/validation.ts";
import type { JsonValue } from "../db/model/stored_value.ts";
import type { Refuse } from "../platform/option_names.ts";

/** A payload that was read: the output of the schema, or the reason why the schema refuses it. */
export type Payload =
  | { readonly value: unknown; readonly reason: undefined }
  | { readonly value: undefined; readonly reason: string };

/** Refuses a schema of payloads that is not a Standard Schema; none is needed. */
export function checkSchema(body: unknown, refuse: Refuse): void {
  if (body !== undefined && !isStandardSchema(body)) refuse("body is not a Standard Schema");
}

/**
 * Returns a payload as it is stored: what JSON preserves of it, which is what its handler will see.
 *
 * @throws {TypeError} if it is not JSON, or the schema refuses it
 */
export async function storedPayload(
  body: unknown,
  { action, schema }: { readonly action: string; readonly schema: AnySchema | undefined },
): Promise<JsonValue> {
  const stored = jsonOf(body, action);
  const { reason } = await readPayload(stored, schema);
  if (reason !== undefined) throw new TypeError(`Cannot ${action}: ${reason}`);
  return stored;
}

/** Validates a stored payload. */
export async function readPayload(
  stored: JsonValue,
  schema: AnySchema | undefined,
): Promise<Payload> {
  if (schema === undefined) {
    return stored === null
      ? { value: undefined, reason: undefined }
      : { value: undefined, reason: "it has a body, and its kind has no schema" };
  }
  const result = await schema["~standard"].validate(stored);
  if (!result.issues) return { value: result.value, reason: undefined };
  const issues = issuesOf(result.issues, { value: stored, part: "body" });
  const texts = issues.map(({ field, message }) => field ? `${field}: ${message}` : message);
  return { value: undefined, reason: `the body does not satisfy its schema: ${texts.join("; ")}` };
}

function jsonOf(body: unknown, action: string): JsonValue {
  if (body === undefined) return null;
  try {
    return JSON.parse(JSON.stringify(body));
  } catch (cause) {
    throw new TypeError(`Cannot ${action}: the body is not JSON`, { cause });
  }
}
