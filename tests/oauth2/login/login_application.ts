/** An application whose users log in at a provider. */
import { controller, type FwApplication, module, route } from "../../../mod.ts";
import { OAuth2Client } from "../../../src/oauth2/client/client.ts";
import {
  type ConfidentialClientOptions,
  OAuth2Options,
} from "../../../src/oauth2/client/client_options.ts";
import {
  type BeginLoginOptions,
  type FinishedLogin,
  OAuth2Login,
  type OAuth2LoginOptions,
} from "../../../src/oauth2/login/oauth2_login.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { EXAMPLE } from "./provider.ts";

export const SECRET = "the-secret-of-the-shop";
export const CALLBACK = "https://shop.example/auth/callback";

export interface ExampleLoginOptions extends OAuth2LoginOptions {
  readonly fetch: typeof fetch;
  readonly client?: Partial<ConfidentialClientOptions>;
}

/** A login at the example provider; by default, id_tokens are verified. */
export function exampleLogin(
  { fetch, client, ...options }: ExampleLoginOptions,
): OAuth2Login {
  const { userinfoUrl: _, ...urls } = EXAMPLE;
  const clientOptions = new OAuth2Options({
    clientId: "shop",
    clientSecret: SECRET,
    redirectUri: CALLBACK,
    ...urls,
    ...client,
  });
  const scopes = ["openid", "email"];
  return new OAuth2Login(new OAuth2Client(clientOptions, { fetch }), { scopes, ...options });
}

export interface LoginRoutes {
  /** What becomes of a login that has succeeded. */
  readonly answer?: (finished: FinishedLogin) => unknown;
  /** Options of each login. */
  readonly begin?: BeginLoginOptions;
}

/** Serves `/auth/login` and `/auth/callback`, the latter for forms too. */
export function loginApplication(
  login: OAuth2Login,
  { answer = summary, begin = {} }: LoginRoutes = {},
): Promise<FwApplication> {
  class AuthController extends controller("auth") {
    login = route.get(
      "/login",
      (_, c) => login.begin(c, { returnTo: c.req.query("return_to"), ...begin }),
    );
    callback = route.get("/callback", async (_, c) => answer(await login.finish(c)));
    form = route.post("/callback", async (_, c) => answer(await login.finish(c)));
  }
  return createTestApplication(module({ name: "Shop", controllers: [AuthController] }));
}

function summary({ claims, returnTo, parameters }: FinishedLogin): unknown {
  return {
    subject: claims?.sub ?? null,
    returnTo,
    parameters: Object.fromEntries(parameters),
  };
}
