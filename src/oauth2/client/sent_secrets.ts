/**
 * What a request says that nobody else may read.
 *
 * @module
 */

/** The parts of a request that are looked at. */
export interface SentRequest {
  /** Its headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body; what is no form is not looked at. */
  readonly body?: unknown;
}

/** The parameters of a request that are no secret. */
const PUBLIC_PARAMETERS: ReadonlySet<string> = new Set([
  "client_assertion_type",
  "client_id",
  "grant_type",
  "redirect_uri",
  "scope",
  "token_type_hint",
]);

/**
 * Gives every secret of a request: the parameters of its form that are not known to be public, and its
 * credentials (RFC 6750 §2.1, RFC 7617). Each is given as it is and in Base64, on its own and as the
 * password of the client.
 */
export function sentSecrets({ headers, body }: SentRequest): readonly string[] {
  const form = body instanceof URLSearchParams ? body : new URLSearchParams();
  const [, scheme = "", credentials = ""] = /^(\S+) (.*)$/.exec(headers.authorization ?? "") ?? [];
  const secrets = [...form].filter(([name]) => !PUBLIC_PARAMETERS.has(name)).map(([, it]) => it);
  secrets.push(credentials);
  if (scheme === "Basic") secrets.push(...passwords(credentials));
  const clientId = form.get("client_id") ?? "";
  return secrets.filter((secret) => secret !== "").flatMap((secret) => [
    secret,
    ...base64(secret),
    ...base64(`${clientId}:${secret}`),
  ]);
}

/** Gives the password of Basic credentials as it was sent, and as it is (RFC 6749 §2.3.1). */
function passwords(credentials: string): readonly string[] {
  const password = atob(credentials).split(":")[1] ?? "";
  return [password, new URLSearchParams(`p=${password}`).get("p") ?? ""];
}

/** Gives a text in both alphabets of Base64 (RFC 4648 §4 and §5), unpadded. */
function base64(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const unpadded = encoded.replace(/=+$/, "");
  return [unpadded, unpadded.replaceAll("+", "-").replaceAll("/", "_")];
}
