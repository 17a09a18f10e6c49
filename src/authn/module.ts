/**
 * The tokens of the application as a module.
 *
 * @module
 */
import { type Module, module } from "../core/module/module.ts";
import { provide } from "../core/module/provider.ts";
import { JwtService, type JwtServiceOptions } from "./jwt_service.ts";

/** Creates modules that provide a {@linkcode JwtService}. */
export class AuthnModule {
  /**
   * Returns a module that provides and exports a {@linkcode JwtService}.
   *
   * @example
   * ```ts
   * import { controller, FwFactory, inject, module, route } from "@fw/fw";
   * import { AuthnModule, JwtKey, JwtService, Principal } from "@fw/fw/authn";
   *
   * class SessionController extends controller() {
   *   readonly #jwt = inject(JwtService);
   *   create = route.post("/session", { public: true }, async () => ({
   *     token: await this.#jwt.sign({ subject: "tom" }), // after checking the password
   *   }));
   *   me = route.get("/me", { args: { me: Principal } }, ({ me }) => me.subject);
   * }
   *
   * const AppModule = module({
   *   imports: [
   *     AuthnModule.forRoot({ issuer: "https://api.example.com", key: await JwtKey.generate() }),
   *   ],
   *   controllers: [SessionController],
   * });
   * const app = await FwFactory.create(AppModule);
   * app.useAuthn(app.get(JwtService), { require: true });
   * ```
   *
   * @throws {OAuth2Error} `InvalidConfig` if an option is invalid
   */
  static forRoot(options: JwtServiceOptions): Module {
    const service = new JwtService(options);
    return module({
      name: "AuthnModule",
      providers: [provide(JwtService, () => service)],
      exports: [JwtService],
    });
  }
}
