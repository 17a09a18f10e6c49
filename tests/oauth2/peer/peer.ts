/** The client and the verifier of the framework with a certified provider. */
import { OAuth2Client, type OAuth2ClientOptions } from "../../../src/oauth2/client/client.ts";
import { type DiscoveryOptions, OAuth2Options } from "../../../src/oauth2/client/client_options.ts";
import { OAuth2Error } from "../../../src/oauth2/ground/errors.ts";
import { JwksCache } from "../../../src/oauth2/resource_server/jwks_cache.ts";
import { JwtVerifier } from "../../../src/oauth2/resource_server/jwt_verifier.ts";
import { generatePkce } from "../../../src/oauth2/client/pkce.ts";
import type { TokenSet } from "../../../src/oauth2/client/token_set.ts";
import { ValidationConfig } from "../../../src/oauth2/resource_server/validation_config.ts";
import { afterFile, test } from "../../support/test.ts";
import {
  type OidcProvider,
  oidcProvider,
  type ResourceAlgorithm,
  RESOURCES,
  SKIP_OIDC_PROVIDER,
} from "./oidc_provider.ts";

/** Declares a test with a new provider. */
export function peerTest(
  name: string,
  body: (provider: OidcProvider) => Promise<void>,
  { slow = false }: { readonly slow?: boolean } = {},
): void {
  test(`oidc-provider: ${name}`, async () => {
    await using provider = await oidcProvider();
    await body(provider);
  }, { skip: SKIP_OIDC_PROVIDER, slow });
}

/** Makes the `peerTest` of a file whose tests share one provider. */
export async function sharedPeerTest(): Promise<typeof peerTest> {
  if (SKIP_OIDC_PROVIDER !== undefined) return peerTest;
  const provider = await oidcProvider();
  afterFile(() => provider[Symbol.asyncDispose]());
  return (name, body, options) => test(`oidc-provider: ${name}`, () => body(provider), options);
}

/** Makes a client that has discovered the provider. */
export async function peerClient(
  { issuer, redirectUri }: Pick<OidcProvider, "issuer" | "redirectUri">,
  client: DiscoveryOptions,
  options: OAuth2ClientOptions = {},
): Promise<OAuth2Client> {
  return new OAuth2Client(
    await OAuth2Options.discover(issuer, { redirectUri, ...client }),
    options,
  );
}

/** A login up to the callback. */
export async function comeBack(
  provider: OidcProvider,
  client: OAuth2Client,
  { scopes = ["openid", "email"], extra, nonce }: {
    readonly scopes?: readonly string[];
    readonly extra?: Readonly<Record<string, string>>;
    readonly nonce?: string;
  } = {},
) {
  const { challenge, verifier } = await generatePkce();
  const { url, state } = client.authorizeUrl({ scopes, extra, nonce, pkce: challenge });
  return { callback: new URL(await provider.authorize(url)), state, verifier };
}

/** A whole login. */
export async function logIn(
  provider: OidcProvider,
  client: OAuth2Client,
  options: Parameters<typeof comeBack>[2] = {},
): Promise<TokenSet> {
  const { callback, state, verifier } = await comeBack(provider, client, options);
  return await client.exchangeCode(client.verifyCallback(callback, state), verifier);
}

/** Creates a verifier of the access tokens of an algorithm. */
export function peerVerifier(
  { issuer, endpoints }: Pick<OidcProvider, "issuer" | "endpoints">,
  alg: ResourceAlgorithm,
  { audience = RESOURCES[alg], keys = new JwksCache(endpoints.jwksUrl) }: {
    readonly audience?: string;
    readonly keys?: JwksCache;
  } = {},
): JwtVerifier {
  const config = new ValidationConfig(alg)
    .withIssuer(issuer)
    .withAudience(audience)
    .withTokenType("at+jwt");
  return new JwtVerifier(keys, config, { cacheTokens: 100 });
}

/** Gives the code of RFC 6749 by which the provider refuses an operation. */
export async function grantOf(operation: Promise<unknown>): Promise<string> {
  const error = await operation.then(() => undefined, (error: unknown) => error);
  if (error instanceof OAuth2Error && error.code === "Grant") return error.grant.error;
  throw new Error("The provider does not refuse", { cause: error });
}
