/**
 * Tokens of the application, and the caller by these or by tokens of an identity provider.
 *
 * @example
 * ```ts
 * import { JwtKey, JwtService } from "@fw/fw/authn";
 *
 * const service = new JwtService({
 *   issuer: "https://api.example.com",
 *   audience: "https://api.example.com",
 *   key: await JwtKey.generate(),
 * });
 * const token = await service.sign({ subject: "tom", roles: ["admin"] });
 * console.assert((await service.verify(token)).claims.sub === "tom");
 * ```
 *
 * @module
 */
export { JwtKey, type PublicJwk } from "./jwt_key.ts";
export { type JwtContent, JwtService, type JwtServiceOptions } from "./jwt_service.ts";
export { AuthnModule } from "./module.ts";
export { Principal, principalOf } from "./principal.ts";
