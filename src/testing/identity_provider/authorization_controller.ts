/**
 * The authorization endpoint, and the login behind it.
 *
 * @module
 */
import { html } from "hono/html";
import { inject } from "../../core/module/container.ts";
import type { Context } from "../../core/http/context.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { Authorizer } from "./authorizer.ts";
import { sendCallback } from "./callback.ts";
import { loginPage, loginTitle } from "./login_page.ts";
import { asRefusal, OAuthRefusal } from "./oauth_refusal.ts";
import type { DevelopmentUser } from "./options.ts";
import { htmlPage } from "./page.ts";
import { formParameters, parameter, queryParameters } from "./parameters.ts";
import { Settings } from "./settings.ts";

/** Serves `/authorize` (RFC 6749 §3.1, by GET and POST) and `/login`, where its form goes. */
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
    { args: { parameters: formParameters } },
    ({ parameters }, c) => this.#authorize(parameters, c),
  );

  /** Answers the client when the user has decided. */
  login = route.post(
    "/login",
    { args: { parameters: formParameters } },
    ({ parameters }, c) => {
      const user = parameter(parameters, "refuse") ? undefined : this.#userOf(parameters);
      return sendCallback(c, this.#authorizer.decide(parameters, user));
    },
  );

  #authorize(parameters: URLSearchParams, c: Context): Response | Promise<Response> {
    const read = this.#authorizer.read(parameters);
    if ("callback" in read) return sendCallback(c, read.callback);
    const { target } = read;
    const content = loginPage({ ...read, parameters, users: this.#users.values() });
    return htmlPage(c, content, { title: loginTitle(target), formTarget: target.redirectUri });
  }

  #userOf(parameters: URLSearchParams): DevelopmentUser {
    const user = this.#users.get(parameter(parameters, "subject") ?? "");
    if (user === undefined) throw new OAuthRefusal("invalid_request", "There is no such user");
    return user;
  }
}

/** Tells the user, and nobody else, why a request cannot be answered: an exception filter. */
function showRefusal(error: unknown, c: Context): Response | Promise<Response> | undefined {
  const refusal = asRefusal(error);
  if (refusal === undefined) return undefined;
  const content = html`
    <p>${refusal.message}.</p>
    <p><small>${refusal.code}</small></p>
  `;
  return htmlPage(c, content, { title: "This request cannot be answered", status: 400 });
}
