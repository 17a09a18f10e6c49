/**
 * Scalar's API reference on the documentation page.
 *
 * @module
 */
import type { UserInterface } from "./user_interface.ts";

/** Scalar with all that calls its makers turned off: fonts, telemetry, proxy, agent, MCP, sharing. */
export const SCALAR: UserInterface = {
  cdn: "https://cdn.jsdelivr.net/npm/@scalar/api-reference@1.72.1/dist/browser/",
  script: {
    path: "standalone.js",
    integrity: "sha384-U11tb2XnKvmwt8RlTvnwUnYgrN+ur4Xyh9htLhjajWNR/Oyl5AX5DEz00qRmlrmK",
  },
  policy: {
    // Vue and CodeMirror write attributes "style" into HTML, and those can have no nonce. Elements
    // have one, so that a "<style>" which somebody smuggles into a description does nothing.
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["'self'", "data:", "blob:"], // of these, what operations answer with is shown
    "media-src": ["blob:"],
    "frame-src": ["blob:"],
  },
  // Scalar's elements "style" are made by several libraries, most of which know no nonce, and one sets
  // another. Its copy of Zod tries "eval" unless told not to, which would be reported as a violation.
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
  // The client is set for each scheme by its name, which the document alone knows. If it cannot be read,
  // Scalar says so.
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
