/**
 * Noticing parameters that nothing can satisfy: paths, queries and headers are text, so that
 * `v.number()` refuses every one.
 *
 * @module
 */
import type { Convert } from "../json_schema/converted.ts";
import { isJsonSchema } from "../json_schema/json_schema.ts";
import type { DocumentedUse } from "../json_schema/schema_names.ts";
import { refusedType } from "./text_probe.ts";

/** Says which parameters refuse every text, as their schemas take another type. */
export function textWarningsOf(
  uses: readonly DocumentedUse[],
  convert: Convert,
): readonly string[] {
  const ofText = uses.filter(({ isWhole, direction }) => !isWhole && direction === "input");
  const warnings: string[] = [];
  for (const { schema, direction, user } of ofText) {
    const properties = convert(schema, direction)?.json.properties;
    for (const [name, property] of Object.entries(isJsonSchema(properties) ? properties : {})) {
      const type = isJsonSchema(property) ? refusedType(schema, name, property) : undefined;
      if (type === undefined) continue;
      warnings.push(
        `No request with ${name} satisfies ${user}: it takes ${type}, and what is sent is text; make it of ` +
          "text, as v.pipe(v.string(), v.toNumber()) and z.coerce.number() do",
      );
    }
  }
  return [...new Set(warnings)];
}
