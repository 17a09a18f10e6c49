/**
 * The OpenAPI document of an application. What creates and serves it is loaded when it is needed.
 *
 * @module
 */
import type { Hono } from "hono";
import { mount } from "../core/route/router.ts";
import { pathVersion } from "../core/route/version.ts";
import { versionsAmong } from "../core/route/route_table.ts";
import { limitsRate } from "../middleware/rate_limit/rate_limit_options.ts";
import type { CreatedDocument } from "../openapi/create_document.ts";
import type { Answering } from "./answering.ts";

/** Options of `app.openApi()`. */
export interface DescribeOptions {
  /** The version to describe: its routes, and those without a version. By default all routes. */
  readonly version?: string | undefined;
}

/** Creates the document of an application. */
export async function describe(
  { routes, protection, settings }: Answering,
  { version }: DescribeOptions = {},
): Promise<CreatedDocument> {
  const [{ createDocument }, { projectVersion }] = await Promise.all([
    import("../openapi/create_document.ts"),
    import("../runtime/project_version.ts"),
  ]);
  const { plugins, globalPrefix, versioning, openApi } = settings;
  const application = {
    routes,
    global: protection,
    isRateLimited: plugins.some((plugin) => limitsRate in plugin),
    versioning,
    routeVersion: version,
    apiPrefix: `${globalPrefix}/${pathVersion(versioning)}`,
    version: openApi.version ?? await projectVersion(),
  };
  return await createDocument(application, openApi);
}

/** Keeps the headers of the page as it needs them, whatever other middleware sets. */
export async function keepDocsHeaders(router: Hono, answering: Answering): Promise<void> {
  const { keepPageHeaders } = await import("../openapi/endpoints.ts");
  keepPageHeaders(router, answering.settings.openApi);
}

/** Serves the document and its page. */
export async function serveDocs(router: Hono, answering: Answering): Promise<void> {
  const { openApiEndpoints } = await import("../openapi/endpoints.ts");
  const { document, warnings } = await describe(answering);
  const endpoints = await openApiEndpoints(document, answering.settings.openApi, {
    versions: versionsAmong(answering.routes),
    describe: async (version) => (await describe(answering, { version })).document,
  });
  for (const { path, handler } of endpoints) mount(router, { method: "GET", path, handler });
  answering.warn("openapi", warnings);
}
