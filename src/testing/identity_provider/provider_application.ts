/**
 * The application that an identity provider is.
 *
 * @module
 */
import { cors } from "hono/cors";
import { csrf } from "hono/csrf";
import type { MiddlewareHandler } from "hono";
import type { FwApplication } from "../../application/application.ts";
import { HttpException } from "../../core/http/http_exception.ts";
import { type Module, module } from "../../core/module/module.ts";
import { provide } from "../../core/module/provider.ts";
import { FwFactory } from "../../application/factory.ts";
import { AuthorizationController } from "./authorization_controller.ts";
import { Authorizer } from "./authorizer.ts";
import { ClientAuthentication } from "./client_authentication.ts";
import { Grants } from "./grants.ts";
import { MetadataController } from "./metadata_controller.ts";
import type { DevelopmentIdentityProviderOptions } from "./options.ts";
import { RevocationController } from "./revocation_controller.ts";
import { Settings } from "./settings.ts";
import { SigningKeys } from "./signing_keys.ts";
import { TokenController } from "./token_controller.ts";
import { TokenIssuer } from "./token_issuer.ts";
import { UserinfoController } from "./userinfo_controller.ts";

/** What pages of any origin may call: a client may be one. */
const OF_CLIENTS = ["/.well-known/*", "/jwks", "/revoke", "/token", "/userinfo"];

const BODY_LIMIT_BYTES = 64 * 1024;

/**
 * Creates the application of a provider, with its first key.
 *
 * @throws {TypeError | RangeError} if an option is not sound
 */
export async function createProvider(
  options: DevelopmentIdentityProviderOptions,
): Promise<FwApplication> {
  const settings = new Settings(options);
  const keys = await SigningKeys.generate(options.algorithm ?? "EdDSA");
  const app = await FwFactory.create(providerModule(settings, keys));
  app.use(refuseForeignHosts(options.hostname));
  for (const path of OF_CLIENTS) app.use(path, cors());
  return app.use("/login", csrf()).useBodyLimit(BODY_LIMIT_BYTES);
}

/**
 * Makes middleware that refuses requests which came by another name than the provider's: a page of that name, whose address
 * was changed to this one, could log in for the user (DNS rebinding).
 *
 * @throws {HttpException} 421
 */
function refuseForeignHosts(own?: string): MiddlewareHandler {
  return async (c, next) => {
    const { hostname } = new URL(c.req.url);
    const isOwn = hostname === "localhost" || hostname === own?.toLowerCase() ||
      /^[\d.]+$|^\[/.test(hostname);
    if (!isOwn) throw new HttpException(421, "The provider answers to addresses and to localhost");
    await next();
  };
}

function providerModule(settings: Settings, keys: SigningKeys): Module {
  return module({
    name: "DevelopmentIdentityProviderModule",
    providers: [
      provide(Settings, () => settings),
      provide(SigningKeys, () => keys),
      Authorizer,
      ClientAuthentication,
      Grants,
      TokenIssuer,
    ],
    controllers: [
      AuthorizationController,
      MetadataController,
      RevocationController,
      TokenController,
      UserinfoController,
    ],
  });
}
