/** The callers of requests that are made from documents, and facts that no document describes. */
import type { Issuer } from "../oauth2/issuer.ts";
import type { Undocumented } from "../../src/testing/prove/options.ts";
import type { Caller } from "../../src/testing/prove/part.ts";

/** A caller without a token. */
export const nobody: Caller = { name: "nobody", isKnown: false };

/** A caller with a token that is none. */
export const forger: Caller = {
  ...nobody,
  name: "a forger",
  headers: { authorization: "Bearer a.b.c" },
};

/** Facts that the documents of the applications do not describe. */
export const UNDOCUMENTED: Undocumented = {
  operations: [
    "AppModule.AuthController.callback", // a login has to be under way
    "AppModule.AuthController.login", // it validates the path of the site itself
    "AppModule.EchoController.echo", // the request has to be upgraded to a WebSocket
    "ShopModule.AccountController.byKey", // callers have tokens, not keys
    "InputsModule.ParametersController.oneOfTwo", // `by` decides whether `age` or `name` is required
  ],
  patterns: {
    anyCase: "^[A-Za-z]*$", // patterns of JSON Schema have no flags
    "path from": "^-?\\d{1,15}$", // arktype parses no other integers
  },
  lenient: ["take", "coerced", "exact", "ratio"], // whatever becomes a number, or a boolean
};

/** A caller with a token. */
export async function callerOf(
  { sign }: Issuer,
  name: string,
  claims: Record<string, unknown>,
): Promise<Caller> {
  const headers = { authorization: `Bearer ${await sign({ ...claims, exp: 4e9 })}` };
  return { name, isKnown: true, isLimited: true, headers };
}
