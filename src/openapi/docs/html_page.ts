/**
 * A page of HTML, and the headers that confine it.
 *
 * @module
 */
import { contentSecurityPolicy, type Directives } from "./content_security_policy.ts";
import type { Page } from "./docs_page_options.ts";
import { escapeHtml } from "./html_text.ts";

/** What is particular to a page. */
export interface HtmlPageOptions {
  /** The title of the window. */
  readonly title: string;
  /** What scripts and styles have to carry. */
  readonly nonce: string;
  /** HTML for the end of the head. */
  readonly head?: string | undefined;
  /** HTML of the body. */
  readonly body: string;
  /** What the page may do beside running and applying what carries the nonce. */
  readonly policy?: Directives;
  /** Its headers beside those of every page. */
  readonly headers: Readonly<Record<string, string>>;
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; }
  .notice { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }`;

/** Makes a page in English, in which paragraphs of the class `notice` stand out. */
export function htmlPage(options: HtmlPageOptions): Page {
  const { title, nonce, head = "", body, policy, headers } = options;
  const own = [`'nonce-${nonce}'`];
  return {
    html: `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style nonce="${escapeHtml(nonce)}">${STYLE}</style>
${head}
</head>
<body>
${body}
</body>
</html>
`,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store", // the nonce is for once
      "content-security-policy": contentSecurityPolicy({
        "script-src": own,
        "style-src": own,
        "img-src": ["data:"],
        ...policy,
      }),
      "x-content-type-options": "nosniff",
      ...headers,
    },
  };
}

/** Makes a script of a page; as a block, it leaves nothing global behind. */
export function inlineScript(text: string, nonce: string): string {
  return `<script nonce="${escapeHtml(nonce)}">{${text}\n}</script>`;
}
