/**
 * The user interfaces of the documentation page: Swagger UI and Scalar's API reference.
 *
 * @module
 */
import type { DocsUi } from "./docs_page_options.ts";
import type { Directives } from "./html_page.ts";

/** A file of a package, of the pinned version. */
export interface PinnedFile {
  /** Its path below the package's base URL. */
  readonly path: string;
  /** Its hash, for the attribute `integrity` (Subresource Integrity §3.1). */
  readonly integrity: string;
}

/** A user interface. */
export interface UserInterface {
  /** The base URL of the pinned files on the CDN, with a slash at its end. */
  readonly cdn: string;
  /** Its style sheet, unless the script contains it. */
  readonly styleSheet?: PinnedFile;
  /** Its script. */
  readonly script: PinnedFile;
  /**
   * The script of the page to which a provider redirects the popup of a sign-in, if it needs one.
   */
  readonly redirectScript?: PinnedFile;
  /**
   * The sources that it needs beside scripts and styles with the nonce and the allowed connections.
   */
  readonly policy: Directives;
  /** Inline script before its own, if it needs one. */
  readonly prepare?: string;
  /**
   * Inline script after its own: shows the interface in `#docs`, with {@linkcode DocsSettings} in
   * `settings`; in its scope, `absolute` resolves a URL.
   */
  readonly start: string;
  /** The name of the global variable that its script sets. */
  readonly global: string;
}

/** The values that the inline script reads. */
export interface DocsSettings {
  /** The name of the API. */
  readonly title: string;
  /** The URL of the OpenAPI document, relative to the page. */
  readonly jsonUrl: string;
  /** The redirect URI, relative to the page. */
  readonly redirectUrl: string;
  /** The id of the client to sign in with. */
  readonly clientId: string | undefined;
  /** The scopes that are selected at first. */
  readonly scopes: readonly string[];
}

/** Swagger UI without its top bar, which can load other documents. */
const SWAGGER_UI: UserInterface = {
  cdn: "https://cdn.jsdelivr.net/npm/swagger-ui-dist@5.35.0/",
  styleSheet: {
    path: "swagger-ui.css",
    integrity: "sha384-WlYgdmXYOOBWL5apwjDEZwN+U3HmXSSu5R6V5aGxEcf7z+KuRNwBhoxKVN1i3D5I",
  },
  script: {
    path: "swagger-ui-bundle.js",
    integrity: "sha384-gjRm0bEPMeTmMh5jT2cHccIwCUZSTd8YC+j0d0sXw0MdGEfScduGpSyF3ZSSLkX9",
  },
  redirectScript: {
    path: "oauth2-redirect.js",
    integrity: "sha384-XuY48ztmqRBrZqX+bDrPUqkTumNohu9Bl+yztOEp/hDTS5qXIApmbiD04MrTFpjk",
  },
  // it shows images and plays sounds of responses
  policy: { "img-src": ["'self'", "data:", "blob:"], "media-src": ["'self'"] },
  global: "SwaggerUIBundle",
  start: `
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
    dark.addEventListener("change", paint);
    paint();
    const ui = SwaggerUIBundle({
      domNode: document.getElementById("docs"),
      url: absolute(settings.jsonUrl),
      oauth2RedirectUrl: absolute(settings.redirectUrl),
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: false,
      tryItOutEnabled: true,
      validatorUrl: null,
    });
    ui.initOAuth({
      clientId: settings.clientId,
      scopes: settings.scopes,
      usePkceWithAuthorizationCodeGrant: true,
    });`,
};

/** Scalar without what connects to its vendor: fonts, telemetry, proxy, agent, MCP, sharing. */
const SCALAR: UserInterface = {
  cdn: "https://cdn.jsdelivr.net/npm/@scalar/api-reference@1.72.1/dist/browser/",
  script: {
    path: "standalone.js",
    integrity: "sha384-U11tb2XnKvmwt8RlTvnwUnYgrN+ur4Xyh9htLhjajWNR/Oyl5AX5DEz00qRmlrmK",
  },
  policy: {
    // Vue and CodeMirror write "style" attributes into HTML, which cannot have a nonce. "<style>"
    // elements need one, so that an element injected through a description has no effect.
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["'self'", "data:", "blob:"], // data: and blob: are images of responses
    "media-src": ["blob:"],
    "frame-src": ["blob:"],
  },
  // Scalar's "<style>" elements are created by several libraries, most of which set no nonce,
  // and one sets another. Its copy of Zod tries "eval" unless configured, which would be
  // reported as a violation.
  prepare: `
    const { nonce } = document.currentScript;
    const { createElement } = Document.prototype;
    Document.prototype.createElement = function (...given) {
      const element = createElement.apply(this, given);
      if (element instanceof HTMLStyleElement) {
        element.nonce = nonce;
        Object.defineProperty(element, "nonce", { get: () => nonce, set() {} });
      }
      return element;
    };
    globalThis.__zod_globalConfig = { jitless: true };`,
  global: "Scalar",
  // The client is set for each security scheme by name, which only the document has. If the
  // document cannot be read, Scalar reports it.
  start: `
    const url = absolute(settings.jsonUrl);
    const authentication = async () => {
      if (!settings.clientId) return undefined;
      const { components } = await (await fetch(url)).json();
      const names = Object.entries(components?.securitySchemes ?? {})
        .filter(([, { flows }]) => flows?.authorizationCode)
        .map(([name]) => name);
      const authorizationCode = {
        "x-usePkce": "SHA-256",
        "x-scalar-client-id": settings.clientId,
      };
      const scheme = { flows: { authorizationCode }, "x-default-scopes": settings.scopes };
      return {
        preferredSecurityScheme: names[0],
        securitySchemes: Object.fromEntries(names.map((name) => [name, scheme])),
      };
    };
    authentication().catch(() => undefined).then((authentication) =>
      Scalar.createApiReference("#docs", {
        url,
        title: settings.title,
        authentication,
        oauth2RedirectUri: absolute(settings.redirectUrl),
        persistAuth: false,
        telemetry: false,
        withDefaultFonts: false,
        hideClientButton: true,
        showDeveloperTools: "never",
        agent: { disabled: true },
        mcp: { disabled: true },
      })
    );`,
};

/** The user interfaces, by the option that chooses them. */
export const USER_INTERFACES: Readonly<Record<DocsUi, UserInterface>> = {
  "swagger-ui": SWAGGER_UI,
  scalar: SCALAR,
};
