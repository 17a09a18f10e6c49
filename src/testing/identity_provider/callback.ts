/**
 * The answer to an authorization request, which the user's browser carries to the client.
 *
 * @module
 */
import { html } from "hono/html";
import type { Context } from "../../core/http/context.ts";
import { htmlPage } from "./page.ts";

/** How an answer gets to the client: in the query, or as a form that is posted (OAuth 2.0 Form Post). */
export type ResponseMode = "query" | "form_post";

/** An answer on its way. */
export interface Callback {
  /** Where it goes. */
  readonly redirectUri: string;
  /** How. */
  readonly responseMode: ResponseMode;
  /** What it says. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** Sends the browser to the client. Without scripts, a form has to be sent by the user. */
export function sendCallback(c: Context, callback: Callback): Response | Promise<Response> {
  if (callback.responseMode === "query") return c.redirect(callbackUrl(callback), 303);
  const { redirectUri, parameters } = callback;
  const body = html`
    <p>The answer to the application is sent as a form.</p>
    <form method="post" action="${redirectUri}">
      ${parameters.map(([name, value]) =>
        html`<input type="hidden" name="${name}" value="${value}">`
      )}
      <button autofocus>Continue</button>
    </form>
  `;
  return htmlPage(c, body, { title: "Back to the application", formTarget: redirectUri });
}

/** Makes the request that the browser would make. */
export function callbackRequest(callback: Callback): Request {
  if (callback.responseMode === "query") return new Request(callbackUrl(callback));
  const body = new URLSearchParams(callback.parameters.map(([name, value]) => [name, value]));
  return new Request(callback.redirectUri, { method: "POST", body });
}

/** Keeps the query that the redirect URI has (RFC 6749 §3.1.2). */
function callbackUrl({ redirectUri, parameters }: Callback): string {
  const url = new URL(redirectUri);
  for (const [name, value] of parameters) url.searchParams.append(name, value);
  return url.href;
}
