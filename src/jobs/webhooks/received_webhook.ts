/**
 * Webhooks that the application receives.
 *
 * @module
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { bytesOf, readBody } from "../../core/http/body.ts";
import type { Context } from "../../core/http/context.ts";
import { UnauthorizedException } from "../../core/http/http_exception.ts";
import { markInput } from "../../core/route/declared_input.ts";
import type { Extractor } from "../../core/route/extractor.ts";
import { withEffects } from "../../core/schema/response_effects.ts";
import {
  type AnySchema,
  InputSchema,
  isStandardSchema,
  type SchemaOutput,
} from "../../core/schema/validation.ts";
import { lazy } from "../../platform/lazy.ts";
import { MAX_KEY_LENGTH } from "../enqueue_options.ts";
import { checkedSecret } from "./secret.ts";
import { isAmong, isRecent, keysOf, signaturesIn, signaturesOf } from "./signature.ts";

/** A webhook whose signature is valid. */
export interface ReceivedWebhook<Body> {
  /**
   * Its id, of at most 150 characters, which is the same in each attempt to deliver it: handle each
   * id once.
   */
  readonly id: string;
  /** When it was sent. */
  readonly timestamp: Date;
  /** The output of the schema of its body. */
  readonly body: Body;
}

/**
 * The secrets of a sender, each `whsec_` and the base64 of 24 to 64 bytes: one, several while it
 * rotates them, or a function that returns them for a request, such as by its path.
 */
export type WebhookSecrets =
  | string
  | readonly string[]
  | ((c: Context) => string | readonly string[] | Promise<string | readonly string[]>);

const ACTION = "verify webhooks";

const HEADERS = {
  "webhook-id":
    `The id of the webhook, of at most ${MAX_KEY_LENGTH} characters: the same in each attempt to deliver it`,
  "webhook-timestamp": "When it was sent, in seconds since 1970: at most 5 minutes ago",
  "webhook-signature": "Its signatures, such as `v1,…`, separated by spaces",
};

type HeadersSchema = StandardSchemaV1 & StandardJSONSchemaV1;

const jsonSchema = {
  type: "object",
  properties: Object.fromEntries(
    Object.entries(HEADERS).map(([name, description]) => [name, { type: "string", description }]),
  ),
  required: Object.keys(HEADERS),
};

/** Documents the headers, and the 401 of a request whose signature is missing or invalid. */
const WEBHOOK_HEADERS: HeadersSchema = withEffects<HeadersSchema>({
  "~standard": {
    version: 1,
    vendor: "fw",
    validate: (value) => ({ value }),
    jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
  },
}, { problems: [401] });

/**
 * Extracts a webhook that is signed as by Standard Webhooks
 * (https://www.standardwebhooks.com): verifies the signature of the raw body by any of the secrets,
 * with a timestamp of at most 5 minutes ago or ahead, and then validates the body, which is JSON.
 * Headers that are invalid are refused before the body is read: so is an id of over 150 characters,
 * which could be no `singleton` key.
 *
 * A sender repeats a webhook whose response it has not seen, and an attacker can repeat one within
 * the 5 minutes: the id is the same, so handle each id once.
 *
 * @example
 * ```ts
 * import { controller, route } from "@fw/fw";
 * import { webhook } from "@fw/fw/jobs";
 * import * as v from "valibot";
 *
 * const Paid = v.object({ type: v.literal("invoice.paid"), data: v.object({ id: v.string() }) });
 *
 * class Hooks extends controller("hooks") {
 *   paid = route.post(
 *     "/payments",
 *     { args: { event: webhook(Paid, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") }, status: 204 },
 *     ({ event }) => console.log(event.id, event.body.data.id),
 *   );
 * }
 * ```
 *
 * @throws {TypeError} at once, if a secret or the schema is invalid
 * @throws {HttpException} 401 if the signature is missing, invalid or too old; 400, 408, 413, 415
 * or 422
 */
export function webhook<S extends AnySchema>(
  schema: S,
  secrets: WebhookSecrets,
): Extractor<ReceivedWebhook<SchemaOutput<S>>> {
  if (!isStandardSchema(schema)) {
    throw new TypeError(`Cannot ${ACTION}: the first argument is not a Standard Schema`);
  }
  const keys = keysBy(secrets);
  const input = new InputSchema("body", schema);
  const extract: Extractor<ReceivedWebhook<SchemaOutput<S>>> = async (c) => {
    const { signatures, ...headers } = headersOf(c);
    const known = await keys(c);
    const signed = { ...headers, body: new Uint8Array(await bytesOf(c)) };
    const valid = (await signaturesOf(signed, known)).filter((each) => isAmong(each, signatures));
    if (valid.length === 0) throw refused();
    const body = await input.parse(await readBody(c));
    return { id: headers.id, timestamp: new Date(Number(headers.timestamp) * 1000), body };
  };
  return markInput(extract, { body: schema, headers: WEBHOOK_HEADERS });
}

/** Returns what reads the keys for a request: those of secrets that are constant, once. */
function keysBy(
  secrets: WebhookSecrets,
): (c: Context) => readonly CryptoKey[] | Promise<readonly CryptoKey[]> {
  if (typeof secrets === "function") return async (c) => keysOf(checkedSecrets(await secrets(c)));
  const constant = checkedSecrets(secrets);
  return lazy(() => keysOf(constant));
}

function checkedSecrets(secrets: string | readonly string[]): readonly string[] {
  const list: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  if (list.length === 0) throw new TypeError(`Cannot ${ACTION}: there are no secrets`);
  return list.map((secret) => checkedSecret(secret, ACTION));
}

/** Reads the headers of a signature, and refuses those that no body can satisfy. */
function headersOf(c: Context) {
  const id = c.req.header("webhook-id") ?? "";
  const timestamp = c.req.header("webhook-timestamp") ?? "";
  const signatures = signaturesIn(c.req.header("webhook-signature") ?? "");
  if (id.length > MAX_KEY_LENGTH) {
    throw new UnauthorizedException(
      `The id of the webhook has more than ${MAX_KEY_LENGTH} characters`,
    );
  }
  if (id === "" || signatures.length === 0 || !isRecent(timestamp)) throw refused();
  return { id, timestamp, signatures };
}

function refused(): UnauthorizedException {
  return new UnauthorizedException(
    "The signature of the webhook is missing or invalid, or more than 5 minutes old",
  );
}
