/**
 * The header that says what a page may load, run and call (Content Security Policy Level 3).
 *
 * @module
 */

/** Directives by name, each with its sources. */
export type Directives = Readonly<Record<string, readonly string[]>>;

/** Stands for the variables of a URL while it is parsed. */
const VARIABLE = "0variable0";

/** A port that is a variable, and what is before it. */
const VARIABLE_PORT = /^(\w+:\/\/[^/?#]*):\{[^{}]*\}(?=[/?#]|$)/;

/** What a host source may be (CSP §2.3.1): no literal of IPv6, and nothing that ends a directive. */
const HOST_SOURCE = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::(?:\d+|\*))?$/;

/** Writes a policy: what no directive allows is forbidden. */
export function contentSecurityPolicy(directives: Directives): string {
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

/**
 * Gives the sources of the origins of URLs, each once. Those that are relative, or have no origin that
 * a policy can name (an address of IPv6, a host that is a variable as a whole), are left out.
 */
export function originSources(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.map(originSource).filter((source) => source !== undefined))];
}

function originSource(url: string): string | undefined {
  const plain = url.replace(VARIABLE_PORT, "$1").replace(/\{[^{}]*\}/g, VARIABLE);
  if (!URL.canParse(plain)) return undefined;
  const { protocol, host } = new URL(plain);
  const labels = host.split(".");
  const last = labels.findLastIndex((label) => label.includes(VARIABLE));
  const named = last < 0 ? host : ["*", ...labels.slice(last + 1)].join(".");
  const source = `${protocol}//${named}${VARIABLE_PORT.test(url) ? ":*" : ""}`;
  return HOST_SOURCE.test(source) ? source : undefined;
}
