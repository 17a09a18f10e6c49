/**
 * The database as a module of the application.
 *
 * @module
 */
import { type Module, module } from "../core/module/module.ts";
import { provide } from "../core/module/provider.ts";
import type { OpenDatabase } from "./connection/connection.ts";
import type { DbOptions } from "./options.ts";

/** A service class that `DbService.with` returns, or one that extends it. */
export interface OpenableService<T> {
  /** Takes over an open database. */
  new (database: OpenDatabase): T;
  /** Opens a database and returns the service on it. */
  open(this: new (database: OpenDatabase) => T, options: DbOptions): Promise<T>;
}

/** Makes modules that provide a database. */
export class DbModule {
  /**
   * Returns a module that provides and exports a service, opened at boot and closed at
   * shutdown. The options may be a function, which is called at boot, so that imports do not
   * read the environment.
   *
   * @example
   * ```ts
   * import { module } from "@fw/fw";
   * import { DbModule, DbOptions, DbService, field, model } from "@fw/fw/db";
   *
   * const User = model("users", {
   *   id: field.integer().primaryKey(),
   *   email: field.text().unique(),
   * });
   * class Db extends DbService.with({ user: User }) {}
   *
   * const AppModule = module({
   *   imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite:data.sqlite"))],
   * });
   * ```
   */
  static forRoot<T extends object>(
    service: OpenableService<T>,
    options: DbOptions | (() => DbOptions),
  ): Module {
    return module({
      name: "DbModule",
      providers: [
        provide(service, () => service.open(typeof options === "function" ? options() : options)),
      ],
      exports: [service],
    });
  }
}
