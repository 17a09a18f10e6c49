/**
 * What is told of a user.
 *
 * @module
 */
import type { DevelopmentUser } from "./options.ts";

/** The claims that ID tokens and userinfo may have, for the metadata. */
export const CLAIMS: readonly string[] = ["sub", "name", "email", "email_verified", "roles"];

/** Gives the claims about a user that the scopes ask for (OpenID Connect Core §5.4). */
export function claimsOf(
  { subject, name, email, roles, claims }: DevelopmentUser,
  scope: string,
): Readonly<Record<string, unknown>> {
  const scopes = scope.split(" ");
  return {
    ...claims,
    ...(scopes.includes("profile") && { name }),
    ...(scopes.includes("email") && { email, email_verified: true }),
    ...(roles && { roles }),
    sub: subject,
  };
}
