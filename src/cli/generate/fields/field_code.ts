/**
 * The declarations of fields in models.
 *
 * @module
 */
import type { FieldSpec } from "./field_spec.ts";

/** Returns the expression of a field of a model: `field.text({ max: 80 }).unique()`. */
export function fieldCode(
  spec: FieldSpec,
  { model }: { readonly model?: string } = {},
): string {
  const { kind, isEmail, isNullable, isUnique, reference } = spec;
  const target = reference?.pascal === model ? '"self"' : reference?.pascal;
  return [
    `field.${kind}(${argumentOf(spec)})`,
    isEmail && ".email()",
    reference && `.references(${target})`,
    isUnique && ".unique()",
    isNullable && ".nullable()",
    spec.default !== undefined && `.default(${defaultCode(spec)})`,
  ].filter(Boolean).join("");
}

/** Returns the code of the default of a field that has one. */
export function defaultCode({ kind, default: text = "" }: FieldSpec): string {
  switch (kind) {
    case "integer":
    case "real":
    case "boolean":
      return text;
    case "bigint":
      return `${text}n`;
    case "timestamp":
      return "() => new Date()";
    case "uuid":
      return "() => crypto.randomUUID()";
    default:
      return JSON.stringify(text);
  }
}

function argumentOf({ kind, min, max, size, values }: FieldSpec): string {
  if (kind === "enum") return JSON.stringify(values).replaceAll(",", ", ");
  const bound = (text: string) =>
    kind === "decimal" ? JSON.stringify(text) : kind === "bigint" ? `${text}n` : text;
  const members = [
    size && `precision: ${size[0]}, scale: ${size[1]}`,
    min !== undefined && `min: ${bound(min)}`,
    max !== undefined && `max: ${bound(max)}`,
  ].filter(Boolean);
  return members.length > 0 ? `{ ${members.join(", ")} }` : "";
}
