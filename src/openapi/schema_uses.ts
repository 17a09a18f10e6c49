/**
 * The schemas of an application, as its routes use them.
 *
 * @module
 */
import { inputOf } from "../core/declared_input.ts";
import type { PlacedRoute } from "../core/route_table.ts";
import type { AnySchema } from "../core/validation.ts";
import type { Convert } from "./converted.ts";
import type { DocumentedUse } from "./schema_components.ts";

/** Lists the schemas that a route uses. */
export function usesOf({ method, path, bound: { route } }: PlacedRoute): readonly DocumentedUse[] {
  const { response, openapi } = route.options;
  const { params, query, headers, body } = inputOf(route.options);
  const uses: DocumentedUse[] = [];
  const use = (
    what: string,
    schema: AnySchema | undefined,
    kind: Pick<DocumentedUse, "direction" | "isWhole">,
  ) => schema && uses.push({ schema, of: `the ${what} of ${method} ${path}`, ...kind });
  for (const [what, schema] of Object.entries({ params, query, headers })) {
    use(what, schema, { direction: "input", isWhole: false });
    use(what, schema, { direction: "output", isWhole: false }); // what text becomes
  }
  use("body", body, { direction: "input", isWhole: true });
  use("response", response, { direction: "output", isWhole: true });
  for (const [status, said] of Object.entries(openapi?.responses ?? {})) {
    const schema = typeof said === "string" ? undefined : said.schema;
    use(`response ${status}`, schema, { direction: "output", isWhole: true });
  }
  return uses;
}

/** Says, of the schemas that cannot be converted, what they are described as. */
export function warningsOf(uses: readonly DocumentedUse[], convert: Convert): readonly string[] {
  const unknown = uses.filter(({ schema, direction }) => convert(schema, direction) === undefined);
  const warnings = unknown.map(({ schema, of }) => {
    const { vendor } = schema["~standard"];
    return `${sentence(of)}: ${vendor} offers no JSON Schema of it, so it is described as "any"`;
  });
  return [...new Set(warnings)];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
