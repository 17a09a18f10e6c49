/**
 * Telling which client asks (RFC 6749 §2.3).
 *
 * @module
 */
import { timingSafeEqual } from "hono/utils/buffer";
import { inject } from "../../core/module/container.ts";
import type { Context } from "../../core/http/context.ts";
import { OAuthRefusal } from "./oauth_refusal.ts";
import type { DevelopmentClient } from "./options.ts";
import { parameter } from "./parameters.ts";
import { Settings } from "./settings.ts";

/** What a request says of its client. */
interface Credentials {
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
}

/** The methods a client can use. */
export const AUTHENTICATION_METHODS: readonly string[] = [
  "client_secret_post",
  "client_secret_basic",
  "none",
];

/** Authenticates clients: by a secret in the form or by Basic; a public client by its id alone. */
export class ClientAuthentication {
  readonly #settings = inject(Settings);

  /**
   * Gives the client that has sent a request.
   *
   * @throws {OAuthRefusal} `invalid_client`, which does not tell what was wrong; `invalid_request` if
   * it has used two methods at once
   */
  async authenticate(c: Context, parameters: URLSearchParams): Promise<DevelopmentClient> {
    const { clientId, clientSecret } = credentialsOf(c, parameters);
    const client = this.#settings.clients.get(clientId ?? "");
    const isKnown = client !== undefined &&
      await timingSafeEqual(clientSecret ?? "", client.clientSecret ?? "");
    if (!isKnown) throw new OAuthRefusal("invalid_client", "The client is unknown");
    return client;
  }
}

function credentialsOf(c: Context, parameters: URLSearchParams): Credentials {
  const form: Credentials = {
    clientId: parameter(parameters, "client_id"),
    clientSecret: parameter(parameters, "client_secret"),
  };
  const header = c.req.header("authorization");
  if (header === undefined) return form;
  const basic = basicCredentials(header);
  if (form.clientSecret !== undefined || (form.clientId ?? basic.clientId) !== basic.clientId) {
    throw new OAuthRefusal("invalid_request", "The client authenticates in two ways");
  }
  return basic;
}

/** Both halves are encoded as in a form before they are joined (RFC 6749 §2.3.1). */
function basicCredentials(header: string): Credentials {
  try {
    const [, encoded = ""] = /^basic +([\w+/]+=*) *$/i.exec(header) ?? [];
    const pair = atob(encoded);
    const colon = pair.indexOf(":");
    const [clientId, clientSecret] = [pair.slice(0, colon), pair.slice(colon + 1)].map((half) =>
      decodeURIComponent(half.replaceAll("+", " "))
    );
    if (colon > 0) return { clientId, clientSecret };
  } catch {
    // not Base64, or not percent-encoded
  }
  throw new OAuthRefusal("invalid_client", "The client's credentials cannot be read");
}
