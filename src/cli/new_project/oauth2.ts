/**
 * Tokens of an identity provider in a new project.
 *
 * @module
 */
import type { Files } from "./new_project.ts";

const VERIFIER = `import { environment } from "@fw/fw";
import { JwksCache, JwtVerifier, ValidationConfig } from "@fw/fw/oauth2";
import * as v from "valibot";

const Url = v.pipe(v.string(), v.url("It is no URL"));
const Settings = v.object({
  OAUTH2_ISSUER: Url,
  OAUTH2_JWKS_URL: Url,
  OAUTH2_AUDIENCE: v.pipe(v.string(), v.nonEmpty("It is empty")),
});

/** Verifies access tokens of the identity provider that the environment names. */
export function verifierFromEnv(): JwtVerifier {
  const env = environment(Settings);
  const config = new ValidationConfig("RS256")
    .withIssuer(env.OAUTH2_ISSUER)
    .withAudience(env.OAUTH2_AUDIENCE);
  return new JwtVerifier(new JwksCache(env.OAUTH2_JWKS_URL), config);
}
`;

const ME_CONTROLLER = `import { controller, dto, route } from "@fw/fw";
import { OAuth2Principal } from "@fw/fw/oauth2";
import * as v from "valibot";

const Me = dto("Me", v.object({ subject: v.string() }));

export class MeController extends controller("me") {
  me = route.get("/", {
    args: { me: OAuth2Principal },
    response: Me,
    openapi: { summary: "Tell who is calling" },
  }, ({ me }) => me);
}
`;

const IDENTITY_PROVIDER =
  `/** An identity provider for development. It lets anybody in: \`deno task idp\`. */
import { environment } from "@fw/fw";
import { DevelopmentIdentityProvider } from "@fw/fw/testing";
import * as v from "valibot";

const env = environment(v.object({ OAUTH2_ISSUER: v.string(), OAUTH2_AUDIENCE: v.string() }));
const idp = await DevelopmentIdentityProvider.start({
  port: Number(new URL(env.OAUTH2_ISSUER).port),
  audience: env.OAUTH2_AUDIENCE,
  algorithm: "RS256",
});
console.log(\`Tokens are issued by \${idp.issuer}, this one for alice, an admin:\\n\`);
console.log(await idp.issueToken({ subject: "alice" }));
`;

/** Gives what verifies tokens, a route that needs one, and what issues them in development. */
export function oauth2Files(): Files {
  return {
    "src/oauth2.ts": VERIFIER,
    "src/me/me_controller.ts": ME_CONTROLLER,
    "dev/identity_provider.ts": IDENTITY_PROVIDER,
  };
}
