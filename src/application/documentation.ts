/**
 * The OpenAPI document of an application: made, served, and what it has to warn of.
 *
 * @module
 */
import type { Install } from "../core/module/assembly.ts";
import { mount } from "../core/route/router.ts";
import type { CreatedDocument, DescribedApplication } from "../openapi/create_document.ts";
import { type ResolvedOpenApiOptions, resolveOptions } from "../openapi/options.ts";

/** The documentation of one application. What makes and serves it is loaded when it is asked for. */
export class Documentation {
  readonly #application: () => DescribedApplication;
  #options: ResolvedOpenApiOptions = resolveOptions();
  #warnings: readonly string[] = [];

  /** Creates that of an application, which is asked what it is when the document is made. */
  constructor(application: () => DescribedApplication) {
    this.#application = application;
  }

  /** Takes options in place of those before. */
  configure(options: ResolvedOpenApiOptions): void {
    this.#options = options;
  }

  /** Makes the document. */
  async describe(): Promise<CreatedDocument> {
    const { createDocument } = await import("../openapi/create_document.ts");
    return await createDocument(this.#application(), this.#options);
  }

  /** Installs what keeps the headers of the page as they have to be. */
  readonly keepHeaders: Install = async (router) => {
    const { keepPageHeaders } = await import("../openapi/endpoints.ts");
    keepPageHeaders(router, this.#options);
  };

  /** Installs the endpoints of the document and of the page. */
  readonly serve: Install = async (router) => {
    const { openApiEndpoints } = await import("../openapi/endpoints.ts");
    const { document, warnings } = await this.describe();
    this.#warnings = warnings;
    for (const { path, handler } of await openApiEndpoints(document, this.#options)) {
      mount(router, { method: "GET", path }, handler);
    }
  };

  /** Logs, once, what the served document has to warn of, as soon as there is a log. */
  async warn(): Promise<void> {
    if (this.#warnings.length === 0) return;
    const { logWarnings } = await import("../openapi/log_warnings.ts");
    if (logWarnings(this.#warnings)) this.#warnings = [];
  }
}
