/**
 * The page of the interactive documentation, and the redirect page of its sign-in.
 *
 * @module
 */
import type { DocsPageOptions, DocsPageRequest, Page } from "./docs_page_options.ts";
import { escapeHtml, htmlPage, inlineScript, originSources, scriptValue } from "./html_page.ts";
import {
  type DocsSettings,
  type PinnedFile,
  USER_INTERFACES,
  type UserInterface,
} from "./user_interfaces.ts";

/**
 * Creates the page: it shows the OpenAPI document, sends requests to its operations, and signs
 * users in by OAuth 2.0 Authorization Code with PKCE (RFC 7636). Its policy allows it to run
 * and load only the files of the user interface, and to connect only to its own origin and
 * those of `connectTo`.
 */
export function docsPage(options: DocsPageOptions, request: DocsPageRequest): Page {
  const ui = USER_INTERFACES[options.ui];
  const { nonce, jsonUrl } = request;
  const from = { cdn: ui.cdn, assets: options.assets, nonce };
  const document = `<a href="${escapeHtml(jsonUrl)}">OpenAPI document</a>`;
  return htmlPage({
    title: options.title,
    nonce,
    head: ui.styleSheet && `<link rel="stylesheet" ${loading("href", ui.styleSheet, from)}>`,
    body: `<div id="docs"></div>
<noscript>
<p class="notice">This page needs JavaScript. The ${document} can be read without it.</p>
</noscript>
<p class="notice" id="unavailable" hidden>
The user interface could not be loaded. The ${document} can be read without it.
</p>
${ui.prepare ? inlineScript(ui.prepare, nonce) : ""}
<script ${loading("src", ui.script, from)}></script>
${inlineScript(startScript(ui, docsSettings(options, request)), nonce)}`,
    policy: { "connect-src": ["'self'", ...originSources(options.connectTo)], ...ui.policy },
    headers: {
      "cross-origin-opener-policy": "same-origin-allow-popups", // for the sign-in
      "referrer-policy": "same-origin",
    },
  });
}

/**
 * Creates the page to which a provider redirects the popup of the sign-in. That of Swagger UI
 * passes the code to the page that opened it; Scalar reads it from the popup's URL. The headers of
 * this page and of {@linkcode docsPage} must not be replaced: another `cross-origin-opener-policy`,
 * such as that of Hono's `secureHeaders`, separates the popup from the page.
 */
export function signInRedirectPage(
  options: DocsPageOptions,
  { nonce }: Pick<DocsPageRequest, "nonce">,
): Page {
  const { cdn, redirectScript } = USER_INTERFACES[options.ui];
  const from = { cdn, assets: options.assets, nonce };
  return htmlPage({
    title: `Sign in: ${options.title}`,
    nonce,
    body: `<p class="notice">
This window closes by itself. If it does not, close it and sign in again.
</p>
${redirectScript ? `<script ${loading("src", redirectScript, from)}></script>` : ""}`,
    headers: {
      "cross-origin-opener-policy": "unsafe-none",
      "referrer-policy": "no-referrer", // the URL contains the code
    },
  });
}

function docsSettings(
  { title, signIn }: DocsPageOptions,
  { jsonUrl, redirectUrl }: DocsPageRequest,
): DocsSettings {
  const { clientId, scopes = [] } = signIn ?? {};
  return { title, jsonUrl, redirectUrl, clientId, scopes };
}

function startScript({ global, start }: UserInterface, settings: DocsSettings): string {
  return `
    const settings = ${scriptValue(settings)};
    const absolute = (url) => new URL(url, document.URL).href;
    if (!("${global}" in globalThis)) document.getElementById("unavailable").hidden = false;
    else {${start}
    }`;
}

/** Writes the attributes of an element that loads a file of the user interface. */
function loading(
  attribute: "href" | "src",
  { path, integrity }: PinnedFile,
  { cdn, assets, nonce }: {
    readonly cdn: string;
    readonly assets: string | undefined;
    readonly nonce: string;
  },
): string {
  const base = assets === undefined ? cdn : assets.replace(/\/*$/, "/");
  const url = `nonce="${escapeHtml(nonce)}" ${attribute}="${escapeHtml(base + path)}"`;
  return assets === undefined ? `${url} integrity="${integrity}" crossorigin="anonymous"` : url;
}
