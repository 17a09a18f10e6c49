/**
 * Documents as YAML.
 *
 * @module
 */
import type { OpenApiDocument } from "./openapi_document.ts";

/**
 * Writes a document as YAML 1.2.
 *
 * @example
 * ```ts
 * import { FwFactory, module } from "@fw/fw";
 * import { toYaml } from "@fw/fw/openapi";
 *
 * const app = await FwFactory.create(module({}));
 * console.assert((await toYaml(await app.openApi())).startsWith("openapi: 3.1.1"));
 * ```
 */
export async function toYaml(document: OpenApiDocument): Promise<string> {
  const { stringify } = await import("yaml"); // loaded only to write YAML
  return stringify(document, { aliasDuplicateObjects: false });
}
