/**
 * The schemas of an application, as its routes use them.
 *
 * @module
 */
import { inputOf } from "../../core/route/declared_input.ts";
import type { PlacedRoute } from "../../core/route/route_table.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { Convert, Converted, Direction } from "./converted.ts";
import { namedTargets } from "./references.ts";
import type { DocumentedUse } from "./schema_names.ts";

/** Lists the schemas that a route uses. */
export function usesOf({ method, path, bound: { route } }: PlacedRoute): readonly DocumentedUse[] {
  const { response, openapi } = route.options;
  const { params, query, headers, body } = inputOf(route.options);
  const uses: DocumentedUse[] = [];
  const use = (
    what: string,
    schema: AnySchema | undefined,
    kind: Pick<DocumentedUse, "direction" | "isWhole">,
  ) => schema && uses.push({ schema, user: `the ${what} of ${method} ${path}`, ...kind });
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

/** Says what of the schemas is described as "any": the whole of some, parts of others. */
export function warningsOf(uses: readonly DocumentedUse[], convert: Convert): readonly string[] {
  // what text becomes is only looked at where it says more than the text
  const described = uses.filter(({ isWhole, direction }) => isWhole || direction === "input");
  const warnings = described.flatMap(({ schema, direction, user }) => {
    const subject = sentence(user);
    const { vendor } = schema["~standard"];
    const converted = convert(schema, direction);
    const parts = converted ? [converted, ...partsOf(converted, { direction, convert })] : [];
    return converted
      ? parts.flatMap(({ unknown }) => unknown).map((kind) =>
        `${subject}: JSON Schema has no words for "${kind}" of ${vendor}, so it is described as "any"`
      )
      : [`${subject}: ${vendor} offers no JSON Schema of it, so it is described as "any"`];
  });
  return [...new Set(warnings)];
}

/** Gives the schemas with names within a schema. */
function partsOf(
  converted: Converted,
  { direction, convert, seen = new Set() }: {
    readonly direction: Direction;
    readonly convert: Convert;
    readonly seen?: Set<AnySchema>;
  },
): readonly Converted[] {
  return namedTargets(converted).flatMap(({ schema }) => {
    const part = seen.has(schema) ? undefined : convert(schema, direction);
    seen.add(schema);
    return part ? [part, ...partsOf(part, { direction, convert, seen })] : [];
  });
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
