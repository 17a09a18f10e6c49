/**
 * The provider Microsoft.
 *
 * @module
 */
import { checkDefined } from "../../platform/option_names.ts";
import { refuseOption } from "../ground/refuse_option.ts";
import { type SocialOptions, SocialProvider } from "./social_provider.ts";

/** The userinfo of Microsoft (OpenID Connect Core §5.1). */
export interface MicrosoftUserinfo {
  /**
   * The permanent identifier of the user for this application, within the tenant `tid` of the
   * id_token. If users of several tenants can log in, both together identify a user.
   */
  readonly sub: string;
  /** The full name. */
  readonly name?: string;
  /** The given name. */
  readonly given_name?: string;
  /** The family name. */
  readonly family_name?: string;
  /** The URL of a picture. */
  readonly picture?: string;
  /** The e-mail address. Users can choose it: it does not identify them. */
  readonly email?: string;
}

/** Options of Microsoft. */
export interface MicrosoftOptions extends SocialOptions {
  /**
   * Whose users can log in: the id of an organisation, or `organizations`, `consumers` or `common`
   * for the users of all; `common` by default. `undefined`, as of an environment variable that is
   * not set, is refused.
   */
  readonly tenant?: string;
}

const HOST = "https://login.microsoftonline.com";
/** The organisation of personal accounts. */
const CONSUMERS = "9188040d-6c67-4c5b-b112-36a304b66dad";
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Creates the provider Microsoft. An id_token must be of the tenant; with `common` and
 * `organizations`, it can be of any: check its claim `tid`.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is invalid
 */
export function microsoft(options: MicrosoftOptions): SocialProvider<MicrosoftUserinfo> {
  checkDefined(options, {
    names: ["tenant"],
    refuse: (why) => refuseOption("Microsoft", why),
  });
  const { tenant = "common" } = options;
  const one = tenant === "consumers" ? CONSUMERS : tenant.toLowerCase();
  const isOfMany = tenant === "common" || tenant === "organizations";
  if (!isOfMany && !ID.test(one)) {
    refuseOption("tenant", "it is neither an id nor common, organizations or consumers");
  }
  return new SocialProvider<MicrosoftUserinfo>(options, {
    name: "Microsoft",
    scopes: ["openid", "profile", "email"],
    furtherOptions: ["tenant"],
    identifier: { name: "sub", type: "string" },
    server: {
      clientSecret: options.clientSecret,
      ...(isOfMany
        ? { idTokenIssuer: ({ tid }) => isOf(tenant, tid) ? `${HOST}/${tid}/v2.0` : undefined }
        : { issuer: `${HOST}/${one}/v2.0` }),
      authorizeUrl: `${HOST}/${tenant}/oauth2/v2.0/authorize`,
      tokenUrl: `${HOST}/${tenant}/oauth2/v2.0/token`,
      userinfoUrl: "https://graph.microsoft.com/oidc/userinfo",
      jwksUrl: `${HOST}/${tenant}/discovery/v2.0/keys`,
    },
  });
}

/** Checks the tenant of an id_token. Personal accounts belong to no organisation. */
function isOf(tenant: string, id: unknown): boolean {
  const isAny = typeof id === "string" && ID.test(id);
  return isAny && (tenant === "common" || id !== CONSUMERS);
}
