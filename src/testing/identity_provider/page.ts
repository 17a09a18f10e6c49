/**
 * The pages of the provider: plain HTML, without scripts.
 *
 * @module
 */
import { html, raw } from "hono/html";
import type { Context } from "../../core/http/context.ts";
import { randomText } from "./secret_text.ts";

/** What is particular to a page. */
export interface PageOptions {
  /** Its heading. */
  readonly title: string;
  /** Its status; default 200. */
  readonly status?: 200 | 400;
  /** The redirect URI that its form leads to, by itself or by a redirect. */
  readonly formTarget?: string;
}

/** What `html` makes: text in which every value is escaped. */
export type Html = ReturnType<typeof html>;

const STYLE = raw(`
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { box-sizing: border-box; margin: 0; min-height: 100vh; padding: 1rem; display: grid;
    place-items: center; background: #8881; }
  main { box-sizing: border-box; width: min(28rem, 100%); padding: clamp(1.25rem, 6vw, 2rem);
    border-radius: 1rem; border: 1px solid #8884; background: Canvas; overflow-wrap: anywhere; }
  h1 { margin: 0 0 0.5rem; font-size: 1.4rem; line-height: 1.25; }
  form { display: grid; gap: 0.5rem; margin-top: 1.25rem; }
  button { padding: 0.7rem 1rem; border: 1px solid #8886; border-radius: 0.6rem; font: inherit;
    text-align: start; background: #8882; color: inherit; cursor: pointer; }
  button[name="refuse"] { background: none; }
  button:hover { border-color: currentColor; }
  button:focus-visible { outline: 3px solid #2563eb; outline-offset: 2px; }
  h1, p { text-wrap: balance; }
  p { margin: 0 0 1rem; }
  dl { margin: 0; display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1rem; }
  dt { opacity: 0.7; }
  dd { margin: 0; }
  dl, small { font-size: 0.875rem; }
  small { display: block; opacity: 0.8; }
  main > :last-child { margin-bottom: 0; }
  .notice { margin: 0 0 1rem; padding: 0.4rem 0.8rem; border-radius: 0.6rem; font-size: 0.8125rem;
    font-weight: 600; background: #fde68a; color: #422006; }
`);

/** Answers with a page, which may neither be framed, stored, nor run anything. */
export function htmlPage(
  c: Context,
  content: Html,
  { title, status = 200, formTarget }: PageOptions,
): Response | Promise<Response> {
  const nonce = randomText();
  c.header("cache-control", "no-store");
  c.header("content-security-policy", securityPolicy(nonce, formTarget));
  c.header("referrer-policy", "same-origin"); // with none at all, the form would have no origin
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

/**
 * Browsers hold the redirects after a form to `form-action` too, those of the application included:
 * any server may come, and the scheme of an application that is none.
 */
function securityPolicy(nonce: string, formTarget: string | undefined): string {
  const targets = formTarget === undefined
    ? "'none'"
    : `'self' http: https: ${schemeOf(formTarget)}`;
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `form-action ${targets.trim()}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

function schemeOf(uri: string): string {
  const { protocol } = new URL(uri);
  return protocol === "http:" || protocol === "https:" ? "" : protocol;
}
