/**
 * Access tokens in a new project: those of an identity provider, and the application's own.
 *
 * @module
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import type { Files, NewProject } from "./new_project.ts";

const VERIFIER = `import { environment } from "@fw/fw";
import { JwksCache, JwtVerifier, ValidationConfig } from "@fw/fw/oauth2";
import * as v from "valibot";

const Url = v.pipe(v.string(), v.url("Invalid URL"));
const Settings = v.object({
  OAUTH2_ISSUER: Url,
  OAUTH2_JWKS_URL: Url,
  OAUTH2_AUDIENCE: v.pipe(v.string(), v.nonEmpty("Required")),
  OAUTH2_TOKEN_TYPE: v.optional(v.string(), "at+jwt"),
});

/** Verifies access tokens of the identity provider in the environment. */
export function verifierFromEnv(): JwtVerifier {
  const env = environment(Settings);
  const config = new ValidationConfig("RS256")
    .withIssuer(env.OAUTH2_ISSUER)
    .withAudience(env.OAUTH2_AUDIENCE)
    .withTokenType(env.OAUTH2_TOKEN_TYPE);
  return new JwtVerifier(new JwksCache(env.OAUTH2_JWKS_URL), config);
}
`;

const IDENTITY_PROVIDER =
  `/** An identity provider for development, without passwords: \`deno task idp\`. */
import { environment } from "@fw/fw";
import { DevelopmentIdentityProvider } from "@fw/fw/testing";
import * as v from "valibot";

const env = environment(v.object({ OAUTH2_ISSUER: v.string(), OAUTH2_AUDIENCE: v.string() }));
const idp = await DevelopmentIdentityProvider.start({
  port: Number(new URL(env.OAUTH2_ISSUER).port),
  audience: env.OAUTH2_AUDIENCE,
  algorithm: "RS256",
});
console.log(\`Issuer: \${idp.issuer}. A token of alice, an admin:\\n\`);
console.log(await idp.issueToken({ subject: "alice" }));
`;

const JWT_SERVICE = `import { environment, module, provide } from "@fw/fw";
import { JwtKey, JwtService } from "@fw/fw/authn";
import * as v from "valibot";

const Settings = v.object({ JWT_KEY: v.pipe(v.string(), v.nonEmpty("Required")) });

/** Creates the service that signs and verifies tokens, with the key in the environment. */
async function jwtServiceFromEnv(): Promise<JwtService> {
  const { JWT_KEY } = environment(Settings);
  return createJwtService(await JwtKey.fromPem(JWT_KEY));
}

/** Creates a service with a key; tests generate one. */
export function createJwtService(key: JwtKey): JwtService {
  return new JwtService({ issuer: "NAME", audience: "NAME", key });
}

/** Provides the service to the modules that import this one. */
export const JwtModule = module({
  name: "JwtModule",
  providers: [provide(JwtService, jwtServiceFromEnv)],
  exports: [JwtService],
});
`;

const CREDENTIALS_SERVICE = `import { environment } from "@fw/fw";
import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import * as v from "valibot";

const Settings = v.object({ ADMIN_PASSWORD: v.pipe(v.string(), v.nonEmpty("Required")) });

/** Checks passwords. It knows one user, \`admin\`: replace it with a query of your users. */
export class CredentialsService {
  readonly #password = hash(environment(Settings).ADMIN_PASSWORD);

  isValid(name: string, password: string): boolean {
    return name === "admin" && timingSafeEqual(hash(password), this.#password);
  }
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
`;

const SESSION_CONTROLLER =
  `import { controller, dto, inject, route, UnauthorizedException } from "@fw/fw";
import { JwtService } from "@fw/fw/authn";
import * as v from "valibot";
import { CredentialsService } from "./credentials_service.ts";

const Text = v.pipe(v.string(), v.nonEmpty(), v.maxCodePoints(200));
const Credentials = dto("Credentials", v.object({ name: Text, password: Text }));
const Session = dto("Session", v.object({ token: v.string() }));

export class SessionController extends controller("session", { public: true }) {
  readonly #credentials = inject(CredentialsService);
  readonly #jwt = inject(JwtService);

  create = route.post("/", {
    body: Credentials,
    response: Session,
    status: 201,
    openapi: { summary: "Log in", responses: { 401: "The name or the password is wrong" } },
  }, async ({ body: { name, password } }, c) => {
    if (!this.#credentials.isValid(name, password)) {
      throw new UnauthorizedException("The name or the password is wrong");
    }
    c.header("cache-control", "no-store");
    return { token: await this.#jwt.sign({ subject: name }) };
  });
}
`;

/** Returns the files of authentication; none without `--authn` and `--oauth2`. */
export function tokenFiles({ name, oauth2, authn }: NewProject): Files {
  return {
    ...oauth2 && { "src/oauth2.ts": VERIFIER, "dev/identity_provider.ts": IDENTITY_PROVIDER },
    ...authn && {
      "src/jwt.ts": JWT_SERVICE.replaceAll("NAME", name),
      "src/session/credentials_service.ts": CREDENTIALS_SERVICE,
      "src/session/session_controller.ts": SESSION_CONTROLLER,
    },
    ...(oauth2 || authn) && { "src/me/me_controller.ts": meController({ authn }) },
  };
}

/** The command that prints a key as `createSigningKey` returns it. */
export const NEW_KEY = String.raw`openssl genpkey -algorithm ed25519 | awk '{printf "%s\\n", $0}'`;

/**
 * Returns a key that signs tokens (Ed25519), in PEM, on one line as environment variables have it.
 */
export function createSigningKey(): string {
  const { privateKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  return privateKey.trim().replaceAll("\n", "\\n");
}

/** Returns a password for development. */
export function createPassword(): string {
  return randomBytes(15).toString("base64url");
}

/** The extractor of `authn` reads tokens of both kinds. */
function meController({ authn }: Pick<NewProject, "authn">): string {
  const [principal, entry] = authn ? ["Principal", "authn"] : ["OAuth2Principal", "oauth2"];
  return `import { controller, dto, route } from "@fw/fw";
import { ${principal} } from "@fw/fw/${entry}";
import * as v from "valibot";

const Me = dto("Me", v.object({ subject: v.string() }));

export class MeController extends controller("me") {
  me = route.get("/", {
    args: { me: ${principal} },
    response: Me,
    openapi: { summary: "Show the caller" },
  }, ({ me }) => me);
}
`;
}
