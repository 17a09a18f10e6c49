/**
 * Webhooks as a module of the application.
 *
 * @module
 */
import { type Module, module } from "../../core/module/module.ts";
import { provide } from "../../core/module/provider.ts";
import { Webhooks, type WebhooksDatabaseKey } from "./webhooks.ts";
import { checkedWebhooksOptions, type WebhooksOptions } from "./webhooks_options.ts";

/** Creates modules that provide {@linkcode Webhooks}. */
export class WebhooksModule {
  /**
   * Returns a module that provides and exports the {@linkcode Webhooks} of a database, whose
   * service has the models `webhookTables`. The application must import `JobsModule.forRoot` with
   * the same database, and needs the package `ipaddr.js`.
   *
   * @example
   * ```ts
   * import { module } from "@fw/fw";
   * import { DbModule, DbOptions, DbService } from "@fw/fw/db";
   * import { JobsModule, jobTables, WebhooksModule, webhookTables } from "@fw/fw/jobs";
   *
   * class Db extends DbService.with({ ...jobTables, ...webhookTables }) {}
   *
   * const AppModule = module({
   *   imports: [
   *     DbModule.forRoot(Db, DbOptions.fromUrl("sqlite:data.sqlite")),
   *     JobsModule.forRoot(Db),
   *     WebhooksModule.forRoot(Db),
   *   ],
   * });
   * ```
   *
   * @throws {TypeError} if an option is unknown or invalid
   * @throws {RangeError} if an option is out of range
   */
  static forRoot(database: WebhooksDatabaseKey, options: WebhooksOptions = {}): Module {
    const checked = checkedWebhooksOptions(options);
    return module({
      name: "WebhooksModule",
      providers: [provide(Webhooks, () => new Webhooks(database, checked))],
      exports: [Webhooks],
    });
  }
}
