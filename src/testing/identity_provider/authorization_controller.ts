/**
 * The authorization endpoint, and its login page.
 *
 * @module
 */
import { html } from "hono/html";
import type { Context } from "../../core/http/context.ts";
import { inject } from "../../core/module/container.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { AUTHORIZATION_PARAMETERS, Authorizer } from "./authorizer.ts";
import {
  asRefusal,
  formParameters,
  OAuthRefusal,
  parameter,
  queryParameters,
} from "./oauth_refusal.ts";
import type { DevelopmentUser } from "./options.ts";
import { hiddenFields, type Html, htmlPage, sendCallback } from "./page.ts";
import { Settings } from "./settings.ts";

/** Serves `/authorize` (RFC 6749 §3.1, by GET and POST), and `/login`, the target of its form. */
export class AuthorizationController extends controller("", { filters: [showRefusal] }) {
  readonly #authorizer = inject(Authorizer);
  readonly #users = inject(Settings).users;

  /** Shows the login page. */
  authorize = route.get(
    "/authorize",
    { args: { parameters: queryParameters } },
    ({ parameters }, c) => this.#authorize(parameters, c),
  );

  /** Shows the login page for a request that is sent as a form. */
  authorizeByForm = route.post(
    "/authorize",
    { args: { form: formParameters } },
    ({ form }, c) => this.#authorize(form, c),
  );

  /** Answers the client when the user has decided. */
  login = route.post("/login", { args: { form: formParameters } }, ({ form }, c) => {
    const user = parameter(form, "refuse") ? undefined : this.#userOf(form);
    return sendCallback(c, this.#authorizer.decide(form, user));
  });

  #authorize(parameters: URLSearchParams, c: Context): Response | Promise<Response> {
    const read = this.#authorizer.read(parameters);
    if ("callback" in read) return sendCallback(c, read.callback);
    const { target: { client, redirectUri }, request: { scope } } = read;
    return htmlPage(c, {
      title: `Log in to ${client.name ?? client.clientId}`,
      content: loginForm({ redirectUri, scope, parameters, users: this.#users.values() }),
      formTarget: redirectUri,
    });
  }

  #userOf(parameters: URLSearchParams): DevelopmentUser {
    const user = this.#users.get(parameter(parameters, "subject") ?? "");
    if (user === undefined) throw new OAuthRefusal("invalid_request", "The user is unknown");
    return user;
  }
}

/** Shows an error to the user only, not to the client: an exception filter. */
function showRefusal(error: unknown, c: Context): Response | Promise<Response> | undefined {
  const refusal = asRefusal(error);
  if (refusal === undefined) return undefined;
  const content = html`<p>${refusal.message}. <small>${refusal.code}</small></p>`;
  return htmlPage(c, { title: "This request cannot be answered", content, status: 400 });
}

/** A button for each user. The form repeats the parameters of the request, which is not stored. */
function loginForm({ redirectUri, scope, users, parameters }: {
  readonly redirectUri: string;
  readonly scope: string;
  readonly users: Iterable<DevelopmentUser>;
  readonly parameters: URLSearchParams;
}): Html {
  const sent = AUTHORIZATION_PARAMETERS.filter((name) => parameters.has(name));
  return html`
    <p>Choose a user. No password is needed.</p>
    <dl>
      <dt>Returns to</dt>
      <dd>${redirectUri}</dd>
      <dt>Scopes</dt>
      <dd>${scope || "none"}</dd>
    </dl>
    <form method="post" action="/login">
      ${hiddenFields(sent.map((name) => [name, parameters.get(name) ?? ""]))}
      ${[...users].map(({ subject, name, email, roles = [] }) =>
        html`
          <button name="subject" value="${subject}">
            ${name} <small>${[email, ...roles].join(" · ")}</small>
          </button>
        `
      )}
      <button name="refuse" value="yes">Refuse</button>
    </form>
  `;
}
