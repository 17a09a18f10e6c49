/**
 * Pages of HTML, and the headers that restrict them.
 *
 * @module
 */
import type { Page } from "./docs_page_options.ts";

/** Directives by name, each with its sources. */
export type Directives = Readonly<Record<string, readonly string[]>>;

/** Options of {@linkcode htmlPage}. */
export interface HtmlPageOptions {
  /** The title of the window. */
  readonly title: string;
  /** The nonce of its scripts and styles. */
  readonly nonce: string;
  /** HTML for the end of the head. */
  readonly head?: string | undefined;
  /** HTML of the body. */
  readonly body: string;
  /** The sources that it may use beside scripts and styles with the nonce. */
  readonly policy?: Directives;
  /** Its headers, in addition to those of every page. */
  readonly headers: Readonly<Record<string, string>>;
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; }
  .notice { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }`;

/** Creates a page in English; paragraphs of the class `notice` are highlighted. */
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
      "cache-control": "no-store", // a nonce is used once
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

/** Returns an inline script. It is a block, so that it declares nothing global. */
export function inlineScript(text: string, nonce: string): string {
  return `<script nonce="${escapeHtml(nonce)}">{${text}\n}</script>`;
}

/** Escapes a value for the text of an element, or an attribute in quotes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Writes a value as an expression of an inline script. No value can end the script or open a
 * comment (HTML §4.12.1.3), and no line separator can end a line.
 */
export function scriptValue(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Replaces the variables of a URL while it is parsed. */
const VARIABLE = "0variable0";

/** A URL up to a port that is a variable. */
const VARIABLE_PORT = /^(\w+:\/\/[^/?#]*):\{[^{}]*\}(?=[/?#]|$)/;

/** A host source (CSP §2.3.1): without IPv6 literals, and characters that end a directive. */
const HOST_SOURCE = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::(?:\d+|\*))?$/;

/**
 * Returns the sources of the origins of URLs, each once. Relative URLs are left out, and those
 * whose origin a policy cannot express: an IPv6 address, or a host that is a variable as a whole.
 */
export function originSources(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.map(originSource).filter((source) => source !== undefined))];
}

/** Writes a content security policy (Level 3) that forbids everything that no directive allows. */
function contentSecurityPolicy(directives: Directives): string {
  const closed = {
    "default-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'none'"],
    "frame-ancestors": ["'none'"],
  };
  return Object.entries({ ...closed, ...directives })
    .map(([name, sources]) => `${name} ${sources.join(" ")}`)
    .join("; ");
}

function originSource(url: string): string | undefined {
  const plain = url.replace(VARIABLE_PORT, "$1").replace(/\{[^{}]*\}/g, VARIABLE);
  const parsed = URL.parse(plain);
  if (parsed === null) return undefined;
  const { protocol, host } = parsed;
  const labels = host.split(".");
  const last = labels.findLastIndex((label) => label.includes(VARIABLE));
  const named = last < 0 ? host : ["*", ...labels.slice(last + 1)].join(".");
  const source = `${protocol}//${named}${VARIABLE_PORT.test(url) ? ":*" : ""}`;
  return HOST_SOURCE.test(source) ? source : undefined;
}
