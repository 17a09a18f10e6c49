/**
 * What the provider sends to browsers: plain HTML without scripts, and redirects to the client.
 *
 * @module
 */
import { html, raw } from "hono/html";
import type { Context } from "../../core/http/context.ts";

/** The response to an authorization request, which the browser carries to the client. */
export interface Callback {
  readonly redirectUri: string;
  /** How it is sent: in the query, or as a form that is posted (OAuth 2.0 Form Post). */
  readonly responseMode: "query" | "form_post";
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** What `html` returns: text in which every value is escaped. */
export type Html = ReturnType<typeof html>;

const STYLE = raw(`
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
  main { box-sizing: border-box; width: min(28rem, 100%); padding: 1.25rem;
    overflow-wrap: anywhere; }
  h1 { font-size: 1.4rem; line-height: 1.25; }
  form { display: grid; gap: 0.5rem; margin-top: 1.25rem; }
  button { padding: 0.7rem 1rem; font: inherit; text-align: start; cursor: pointer; }
  button:focus-visible { outline: 3px solid #2563eb; outline-offset: 2px; }
  dl { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1rem; }
  dd { margin: 0; }
  small { display: block; }
  .notice { padding: 0.4rem 0.8rem; font-weight: 600; background: #fde68a; color: #422006; }
`);

/** Answers with a page, which cannot be framed or stored, and runs no script. */
export function htmlPage(
  c: Context,
  { title, content, status = 200, formTarget }: {
    readonly title: string;
    readonly content: Html;
    readonly status?: 200 | 400;
    /** The redirect URI that its form leads to. */
    readonly formTarget?: string;
  },
): Response | Promise<Response> {
  const nonce = crypto.randomUUID();
  c.header("cache-control", "no-store");
  c.header("content-security-policy", securityPolicy(nonce, formTarget));
  c.header("referrer-policy", "same-origin"); // without a referrer, the form would have no origin
  c.header("x-content-type-options", "nosniff");
  c.header("x-frame-options", "DENY");
  return c.html(
    html`
      <!DOCTYPE html>
      <html lang="en">
        <head>
          <meta charset="utf-8">
          <meta name="viewport" content="width=device-width">
          <title>${title}</title>
          <style nonce="${nonce}">${STYLE}</style>
        </head>
        <body>
          <main>
                  <p class="notice">Development identity provider: not for production</p>
                  <h1>${title}</h1>
                  ${content}
                </main>
        </body>
      </html>
    `,
    status,
  );
}

/** Sends the browser to the client. Without scripts, the user has to send a form. */
export function sendCallback(c: Context, callback: Callback): Response | Promise<Response> {
  if (callback.responseMode === "query") return c.redirect(callbackUrl(callback), 303);
  const { redirectUri, parameters } = callback;
  const content = html`
    <p>The response to the application is sent as a form.</p>
    <form method="post" action="${redirectUri}">
      ${hiddenFields(parameters)}
      <button autofocus>Continue</button>
    </form>
  `;
  return htmlPage(c, { title: "Back to the application", content, formTarget: redirectUri });
}

/** Returns the request that the browser would send. */
export function callbackRequest(callback: Callback): Request {
  if (callback.responseMode === "query") return new Request(callbackUrl(callback));
  const body = new URLSearchParams(Object.fromEntries(callback.parameters));
  return new Request(callback.redirectUri, { method: "POST", body });
}

/** Returns fields of a form that are sent and not shown. */
export function hiddenFields(fields: Callback["parameters"]): readonly Html[] {
  return fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

/** The query of the redirect URI is kept (RFC 6749 §3.1.2). */
function callbackUrl({ redirectUri, parameters }: Callback): string {
  const url = new URL(redirectUri);
  for (const [name, value] of parameters) url.searchParams.append(name, value);
  return url.href;
}

/**
 * Browsers apply `form-action` to the redirects after a form too, and so to those of the
 * application: every server is allowed, and the private-use scheme of an application.
 */
function securityPolicy(nonce: string, formTarget: string | undefined): string {
  const { protocol } = new URL(formTarget ?? "http://localhost");
  const scheme = /^https?:$/.test(protocol) ? "" : ` ${protocol}`;
  const targets = formTarget === undefined ? "'none'" : `'self' http: https:${scheme}`;
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `form-action ${targets}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}
