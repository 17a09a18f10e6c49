/**
 * Logins at an identity provider, and routes that require one of its tokens.
 *
 *     deno run -A examples/oauth2.ts
 *
 * Without any of the variables below, it starts a development identity provider on the next port, where
 * a click on a name logs in. To use a real provider, set `OAUTH2_CLIENT_ID` and `OAUTH2_ISSUER`; its
 * metadata contain the rest. If it has no metadata, set `OAUTH2_AUTHORIZE_URL`, `OAUTH2_TOKEN_URL` and
 * `OAUTH2_JWKS_URL`; if `OAUTH2_ISSUER` is set too, it is the required issuer of tokens.
 *
 * - `OAUTH2_CLIENT_SECRET`: the secret of a confidential client
 * - `OAUTH2_REDIRECT_URI`: the callback as registered; by default `http://localhost:PORT/auth/callback`
 * - `OAUTH2_AUDIENCE`: the required audience of access tokens
 * - `OAUTH2_ALGORITHMS`: their accepted algorithms, separated by commas; by default `RS256`
 * - `OAUTH2_TOKEN_TYPE`: their required `typ`, such as `at+jwt`, if the provider sets one
 * - `OAUTH2_DOCS_CLIENT_ID`: the public client for signing in at `/docs`, with the redirect URI
 *   `/docs/oauth2-redirect`
 * - `PORT` (3000) and `HOST`: the address to listen on
 */
import * as v from "valibot";
import {
  controller,
  dto,
  environment,
  type FwApplication,
  FwFactory,
  inject,
  type Module,
  module,
  portFromEnv,
  route,
} from "../mod.ts";
import {
  isSigningAlgorithm,
  JwtVerifier,
  OAuth2Client,
  OAuth2Guard,
  OAuth2Login,
  OAuth2Module,
  OAuth2Options,
  OAuth2Principal,
  type SigningAlgorithm,
  ValidationConfig,
} from "../src/oauth2/mod.ts";
import { DevelopmentIdentityProvider } from "../src/testing/mod.ts";

const Text = v.pipe(v.string(), v.nonEmpty("It is empty"));
const Url = v.pipe(v.string(), v.url("It is not a URL"));
const Algorithms = v.pipe(
  v.string(),
  v.transform((list) => list.split(",").map((name) => name.trim())),
  v.array(v.custom<SigningAlgorithm>(isSigningAlgorithm, "It is not a supported algorithm")),
);

export const Settings = v.object({
  OAUTH2_CLIENT_ID: v.optional(Text),
  OAUTH2_CLIENT_SECRET: v.optional(Text),
  OAUTH2_ISSUER: v.optional(Url),
  OAUTH2_AUTHORIZE_URL: v.optional(Url),
  OAUTH2_TOKEN_URL: v.optional(Url),
  OAUTH2_JWKS_URL: v.optional(Url),
  OAUTH2_REDIRECT_URI: v.optional(Url),
  OAUTH2_AUDIENCE: v.optional(Text),
  OAUTH2_ALGORITHMS: v.optional(Algorithms),
  OAUTH2_TOKEN_TYPE: v.optional(Text),
  OAUTH2_DOCS_CLIENT_ID: v.optional(Text),
});
export type Settings = v.InferOutput<typeof Settings>;

const Session = dto(
  "Session",
  v.object({
    subject: v.nullable(v.string()),
    scope: v.nullable(v.string()),
    expiresAt: v.nullable(v.string()),
    returnTo: v.string(),
  }),
);
const Me = dto("Me", v.object({ subject: v.string(), claims: v.record(v.string(), v.unknown()) }));

class AuthController extends controller("auth", { public: true }) {
  readonly #client = inject(OAuth2Client);
  readonly #login = new OAuth2Login(this.#client, {
    // an id_token can be verified only with an issuer and keys
    scopes: this.#client.options.issuer && this.#client.options.jwksUrl ? ["openid", "email"] : [],
  });

  login = route.get(
    "/login",
    {
      query: v.object({ return_to: v.optional(v.string()) }),
      openapi: {
        summary: "Log in",
        responses: { 303: "To the provider", 400: "`return_to` leads to another site" },
      },
    },
    ({ query }, c) => this.#login.begin(c, { returnTo: query.return_to }),
  );

  /** An application would start a session here, and redirect to `returnTo`. */
  callback = route.get(
    "/callback",
    {
      response: Session,
      openapi: {
        summary: "Come back from the provider",
        responses: {
          400: "The callback is invalid",
          401: "The login was refused, has expired, or began in another browser",
          502: "The provider did not complete the login",
          503: "The keys of the provider cannot be fetched",
        },
      },
    },
    async (_, c) => {
      const { tokens, claims, returnTo } = await this.#login.finish(c);
      return {
        subject: claims?.sub ?? null,
        scope: tokens.scope ?? null,
        expiresAt: tokens.expiresAt?.toISOString() ?? null,
        returnTo,
      };
    },
  );
}

class MeController extends controller("", { tag: "caller" }) {
  me = route.get(
    "/me",
    {
      guards: [OAuth2Guard],
      args: { me: OAuth2Principal },
      response: Me,
      openapi: { summary: "Return the caller" },
    },
    ({ me }) => me,
  );

  admin = route.get(
    "/admin",
    {
      roles: ["admin"],
      response: v.object({ secret: v.string() }),
      openapi: { summary: "Return a secret for admins" },
    },
    () => ({ secret: "for admins only" }),
  );
}

/** Returns the root module for a provider, which redirects users to a redirect URI. */
export async function appModule(settings: Settings, redirectUri: string): Promise<Module> {
  const options = await clientOptions(settings, redirectUri);
  const {
    OAUTH2_JWKS_URL: jwksUrl = options.jwksUrl,
    OAUTH2_AUDIENCE: audience,
    OAUTH2_TOKEN_TYPE: tokenType,
  } = settings;
  if (!jwksUrl) throw new TypeError("Cannot verify tokens: OAUTH2_JWKS_URL is not set");
  let validation = new ValidationConfig().withAlgorithms(settings.OAUTH2_ALGORITHMS ?? ["RS256"]);
  validation = options.issuer ? validation.withIssuer(options.issuer) : validation.anyIssuer();
  validation = audience ? validation.withAudience(audience) : validation.anyAudience();
  if (tokenType) validation = validation.withTokenType(tokenType);
  return module({
    name: "AppModule",
    imports: [
      OAuth2Module.forRoot({
        client: new OAuth2Client(options),
        resourceServer: { jwksUrl, validation },
      }),
    ],
    controllers: [AuthController, MeController],
  });
}

async function clientOptions(settings: Settings, redirectUri: string): Promise<OAuth2Options> {
  const {
    OAUTH2_CLIENT_ID: clientId,
    OAUTH2_CLIENT_SECRET: clientSecret,
    OAUTH2_ISSUER: issuer,
    OAUTH2_AUTHORIZE_URL: authorizeUrl,
    OAUTH2_TOKEN_URL: tokenUrl,
    OAUTH2_JWKS_URL: jwksUrl,
    OAUTH2_ALGORITHMS: idTokenAlgorithms,
  } = settings;
  if (!clientId) throw new TypeError("Cannot log users in: OAUTH2_CLIENT_ID is not set");
  if (authorizeUrl && tokenUrl) {
    const client = { clientId, redirectUri, issuer, idTokenAlgorithms };
    const server = { authorizeUrl, tokenUrl, jwksUrl };
    return clientSecret
      ? new OAuth2Options({ ...client, ...server, clientSecret })
      : OAuth2Options.publicClient({ ...client, ...server });
  }
  if (issuer) return await OAuth2Options.discover(issuer, { clientId, clientSecret, redirectUri });
  throw new TypeError(
    "Cannot log users in: set OAUTH2_ISSUER, or OAUTH2_AUTHORIZE_URL and OAUTH2_TOKEN_URL",
  );
}

/** Configures middleware and endpoints; with a public client, users can sign in at `/docs`. */
export function setUp(app: FwApplication, docsClientId?: string): FwApplication {
  const { authorizeUrl, tokenUrl, issuer } = app.get(OAuth2Client).options;
  if (!authorizeUrl) {
    throw new TypeError("Cannot log users in: the authorization endpoint is missing");
  }
  const scopes = { openid: "Who you are", email: "Your e-mail address" };
  return app
    .useRequestId()
    .useRequestTracing()
    .enableHealthCheck("/health")
    .enableOpenApi({
      title: "Login",
      version: "1.0.0",
      info: { license: { name: "MIT", identifier: "MIT" } },
      components: {
        securitySchemes: {
          login: {
            type: "oauth2",
            description: `Tokens of ${issuer ?? "the provider"}`,
            flows: { authorizationCode: { authorizationUrl: authorizeUrl, tokenUrl, scopes } },
          },
        },
      },
      inferRouteSecurityFromRoles: true,
      rolesSecurityScheme: "login",
      ...docsClientId && { docsSignIn: { clientId: docsClientId, scopes: ["openid"] } },
    })
    .enableProductionErrorsFromEnv()
    .useRateLimit({ max: 1000 })
    .useOAuth2(app.get(JwtVerifier), { require: true });
}

/** Starts the development identity provider, and returns the settings for it. */
export async function developmentSettings(
  port: number,
  redirectUri: string,
): Promise<{ readonly provider: DevelopmentIdentityProvider; readonly settings: Settings }> {
  const clientSecret = crypto.randomUUID();
  const provider = await DevelopmentIdentityProvider.start({
    port,
    audience: "https://example.invalid",
    clients: [
      { clientId: "example", clientSecret, redirectUris: [redirectUri] },
      // a page cannot keep a secret
      { clientId: "docs", redirectUris: [new URL("/docs/oauth2-redirect", redirectUri).href] },
    ],
  });
  return {
    provider,
    settings: {
      OAUTH2_CLIENT_ID: "example",
      OAUTH2_CLIENT_SECRET: clientSecret,
      OAUTH2_ISSUER: provider.issuer,
      OAUTH2_AUDIENCE: "https://example.invalid",
      OAUTH2_ALGORITHMS: ["EdDSA"],
      OAUTH2_TOKEN_TYPE: "at+jwt", // so that id_tokens are refused
      OAUTH2_DOCS_CLIENT_ID: "docs",
    },
  };
}

if (import.meta.main) {
  const port = portFromEnv();
  const { HOST: hostname, ...given } = environment(
    v.object({ ...Settings.entries, HOST: v.optional(Text) }),
  );
  const redirectUri = given.OAUTH2_REDIRECT_URI ?? `http://localhost:${port}/auth/callback`;
  const isConfigured = Object.keys(given).length > 0;
  const development = isConfigured ? undefined : await developmentSettings(port + 1, redirectUri);
  const settings = development?.settings ?? given;
  const app = setUp(
    await FwFactory.create(await appModule(settings, redirectUri)),
    settings.OAUTH2_DOCS_CLIENT_ID,
  );
  const { url } = await app.listenGraceful(port, hostname ? { hostname } : {});
  const token = await development?.provider.issueToken({ subject: "alice" }) ?? "ACCESS_TOKEN";
  if (development) {
    console.log(`
DEVELOPMENT IDENTITY PROVIDER at ${development.provider.issuer}: anyone can log in`);
  }
  if (!settings.OAUTH2_AUDIENCE) {
    console.warn("\nOAUTH2_AUDIENCE is not set: tokens for other applications are accepted too");
  }
  console.log(`
Open ${new URL("/auth/login", redirectUri)} or ${new URL("/docs", redirectUri)} in a browser,
or try:
  TOKEN=${token}
  curl -i ${url}/me
  curl ${url}/me -H "Authorization: Bearer $TOKEN"
  curl ${url}/admin -H "Authorization: Bearer $TOKEN"`);
}
