/**
 * Swagger UI on the documentation page.
 *
 * @module
 */
import type { UserInterface } from "./user_interface.ts";

/** Swagger UI without its top bar, which loads other documents. */
export const SWAGGER_UI: UserInterface = {
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
  // images and sounds that operations answer with are shown
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
