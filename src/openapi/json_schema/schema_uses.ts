/**
 * The schemas that the routes of an application use.
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
    use(what, schema, { direction: "output", isWhole: false }); // the values read from text
  }
  use("body", body, { direction: "input", isWhole: true });
  use("response", response, { direction: "output", isWhole: true });
  for (const [status, listed] of Object.entries(openapi?.responses ?? {})) {
    const schema = typeof listed === "string" ? undefined : listed.schema;
    use(`response ${status}`, schema, { direction: "output", isWhole: true });
  }
  return uses;
}

/** Reports the schemas that are described as "any", as a whole or in parts. */
export function warningsOf(uses: readonly DocumentedUse[], convert: Convert): readonly string[] {
  // the output of parameters is only used where it is more specific than their text
  const described = uses.filter(({ isWhole, direction }) => isWhole || direction === "input");
  const warnings = described.flatMap(({ schema, direction, user }) => {
    const subject = sentence(user);
    const { vendor } = schema["~standard"];
    const converted = convert(schema, direction);
    const parts = converted ? [converted, ...partsOf(converted, { direction, convert })] : [];
    return converted
      ? parts.flatMap(({ unknown }) => unknown).map((kind) =>
        `${subject}: JSON Schema cannot represent "${kind}" of ${vendor}, so it is described as ` +
        `"any"${direction === "output" && kind === "bigint" ? NOT_SENT : ""}`
      )
      : [`${subject}: ${vendor} offers no JSON Schema of it, so it is described as "any"`];
  });
  return [...new Set(warnings)];
}

const NOT_SENT = "; JSON has no bigint, so convert it, as v.pipe(v.bigint(), v.toString()) and " +
  "z.bigint().transform(String) do";

/** Returns the schemas with names inside a schema. */
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
