/**
 * A site with a documentation page: an API that works, the identity provider of its users, and the
 * page of either user interface.
 *
 * @module
 */
import * as v from "valibot";
import { controller, FwFactory, module, NotFoundException, route } from "../../mod.ts";
import {
  JwtVerifier,
  OAuth2Guard,
  OAuth2Principal,
  ValidationConfig,
} from "../../src/oauth2/mod.ts";
import { docsPage, signInRedirectPage } from "../../src/openapi/docs/docs_page.ts";
import type { DocsPageOptions, DocsUi, Page } from "../../src/openapi/docs/docs_page_options.ts";
import { USER_INTERFACES } from "../../src/openapi/docs/user_interfaces.ts";
import { DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { freePort } from "../support/free_port.ts";
import { cdnFile, contentTypeOf } from "./cdn.ts";
import { docsSiteDocument } from "./docs_site_document.ts";

/** Where what a site hosts itself is from. */
const PACKAGES: Readonly<Record<DocsUi, string>> = {
  "swagger-ui": USER_INTERFACES["swagger-ui"].cdn,
  scalar: USER_INTERFACES.scalar.cdn,
};

/** A PNG image of one pixel. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A WAV sound of one sample; sent as MPEG, the one type that Scalar plays, as browsers look at the bytes. */
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

const User = v.object({ name: v.string(), email: v.string() });
type User = v.InferOutput<typeof User>;

/** A running site. */
export interface DocsSite extends AsyncDisposable {
  /** Its origin. */
  readonly origin: string;
  /** The provider of its users, which has the client `docs`. */
  readonly provider: DevelopmentIdentityProvider;
  /** The users it has. */
  readonly users: readonly User[];
}

/** What a site is started with. */
export interface DocsSiteOptions extends Partial<DocsPageOptions> {
  /** The description in the document. */
  readonly description?: string;
}

/** Starts a site; what its pages are given replaces the defaults. */
export async function startDocsSite(
  { description = "An API with **users**.", ...options }: DocsSiteOptions = {},
): Promise<DocsSite> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const provider = await DevelopmentIdentityProvider.start({
    audience: "users",
    clients: [{ clientId: "docs", redirectUris: [`${origin}/docs/signed-in`] }],
  });
  const { issuer } = provider;
  const users: User[] = [];
  const controllers = [
    apiController(users),
    pagesController(docsSiteDocument(issuer, description), {
      title: "Users API",
      ui: "swagger-ui",
      assets: undefined,
      signIn: { clientId: "docs", scopes: ["openid", "email"] },
      connectTo: ["/", `${issuer}/token`],
      ...options,
    }),
  ];
  const app = await FwFactory.create(module({ controllers }));
  const config = new ValidationConfig("EdDSA").withIssuer(issuer).withAudience("users");
  app.useOAuth2(await JwtVerifier.fromUrl(provider.jwksUrl, config));
  await app.listen(port);
  const close = async () => {
    await app.close();
    await provider[Symbol.asyncDispose]();
  };
  return { origin, provider, users, [Symbol.asyncDispose]: close };
}

function apiController(users: User[]) {
  return class ApiController extends controller() {
    list = route.get("/users", () => users);
    create = route.post("/users", { body: User, status: 201 }, ({ body }) => {
      users.push(body);
      return { id: users.length, ...body };
    });
    me = route.get(
      "/me",
      { guards: [OAuth2Guard], args: { me: OAuth2Principal } },
      ({ me }) => ({ subject: me.subject }),
    );
    key = route.get("/key", (_, c) => ({ key: c.req.header("x-api-key") ?? null }));
    picture = route.get("/picture", () => binary(PICTURE, "image/png"));
    sound = route.get("/sound", () => binary(SOUND, "audio/mpeg"));
    page = route.get("/page", (_, c) => c.html("<h1>All about it</h1>"));
  };
}

function pagesController(document: object, options: DocsPageOptions) {
  const forEach = () => ({
    nonce: btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16)))),
    jsonUrl: "./openapi.json",
    redirectUrl: "./docs/signed-in",
  });
  return class PagesController extends controller() {
    json = route.get("/openapi.json", () => document);
    docs = route.get("/docs", () => answer(docsPage(options, forEach())));
    signedIn = route.get("/docs/signed-in", () => answer(signInRedirectPage(options, forEach())));
    files = route.get("/files/:name", async (_, c) => {
      const name = c.req.param("name") ?? "";
      const file = await cdnFile(PACKAGES[options.ui] + name).catch(() =>
        NotFoundException.throw("No such file")
      );
      return new Response(file, { headers: { "content-type": contentTypeOf(name) } });
    });
  };
}

function answer({ html, headers }: Page): Response {
  return new Response(html, { headers });
}

function binary(base64: string, type: string): Response {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Response(bytes, { headers: { "content-type": type } });
}
