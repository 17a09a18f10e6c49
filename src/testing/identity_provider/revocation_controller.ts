/**
 * The revocation endpoint.
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import { controller } from "../../core/route/controller.ts";
import { route } from "../../core/route/route.ts";
import { ClientAuthentication } from "./client_authentication.ts";
import { Grants } from "./grants.ts";
import { answerClient } from "./oauth_refusal.ts";
import { clientParameters, requiredParameter } from "./parameters.ts";

/** Serves `/revoke` (RFC 7009). It needs no `token_type_hint`. */
export class RevocationController extends controller("", { filters: [answerClient] }) {
  readonly #authentication = inject(ClientAuthentication);
  readonly #grants = inject(Grants);

  /** Revokes a token of the client. */
  revoke = route.post(
    "/revoke",
    { args: { parameters: clientParameters } },
    async ({ parameters }, c) => {
      const { clientId } = await this.#authentication.authenticate(c, parameters);
      this.#grants.revoke(requiredParameter(parameters, "token"), clientId);
      return c.body(null);
    },
  );
}
