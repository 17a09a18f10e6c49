/**
 * The page on which a user logs in with a click.
 *
 * @module
 */
import { html } from "hono/html";
import {
  AUTHORIZATION_PARAMETERS,
  type AuthorizationRequest,
  type AuthorizationTarget,
} from "./authorization_request.ts";
import type { DevelopmentUser } from "./options.ts";
import type { Html } from "./page.ts";

/** What the page shows. */
export interface LoginPage {
  /** Who asks. */
  readonly target: AuthorizationTarget;
  /** For what. */
  readonly request: AuthorizationRequest;
  /** Who may log in. */
  readonly users: Iterable<DevelopmentUser>;
  /** The parameters of the request, which the form sends again: nothing is remembered until then. */
  readonly parameters: URLSearchParams;
}

/** Words the heading of the login page. */
export function loginTitle({ client }: AuthorizationTarget): string {
  return `Log in to ${client.name ?? client.clientId}`;
}

/** Renders the content of the login page: a button for each user, and one to refuse. */
export function loginPage({ target, request, users, parameters }: LoginPage): Html {
  const sent = AUTHORIZATION_PARAMETERS.filter((name) => parameters.has(name));
  return html`
    <p>Choose who you are: nobody asks for a password.</p>
    <dl>
      <dt>Returns to</dt>
      <dd>${target.redirectUri}</dd>
      <dt>Scopes</dt>
      <dd>${request.scope || "none"}</dd>
    </dl>
    <form method="post" action="/login">
      ${sent.map((name) =>
        html`<input type="hidden" name="${name}" value="${parameters.get(name)}">`
      )}
      ${[...users].map(userButton)}
      <button name="refuse" value="yes">Refuse</button>
    </form>
  `;
}

function userButton({ subject, name, email, roles = [] }: DevelopmentUser): Html {
  return html`
    <button name="subject" value="${subject}">
      ${name} <small>${[email, ...roles].join(" · ")}</small>
    </button>
  `;
}
