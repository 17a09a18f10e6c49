/**
 * The values of the parameters that a request sends, as their schemas are to see them.
 *
 * @module
 */
import type { OperationObject, ParameterObject } from "../../src/openapi/mod.ts";

/** A value of a documented parameter. */
export interface SentParameter {
  /** The index of the parameter in the list of its operation. */
  readonly index: number;
  readonly name: string;
  /** A number or a boolean by the schema, or a text, or several texts. */
  readonly value: unknown;
}

/** Lists the values of the parameters of path, query and headers that a request sends. */
export function sentParameters(
  { parameters = [] }: OperationObject,
  { template, path, headers }: {
    readonly template: string;
    readonly path: string;
    readonly headers: Headers;
  },
): readonly SentParameter[] {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const inPath = valuesOf(template, pathname);
  const textsOf = ({ name, in: where }: ParameterObject): readonly string[] => {
    if (where === "query") return searchParams.getAll(name);
    const text = where === "path" ? inPath.get(name) : headers.get(name);
    return typeof text === "string" ? [text] : [];
  };
  return parameters.flatMap((parameter, index) => {
    const texts = textsOf(parameter);
    if (texts.length === 0) return [];
    const [one = ""] = texts;
    const value = texts.length > 1 ? texts : valueOf(one, parameter.schema.type);
    return [{ index, name: parameter.name, value }];
  });
}

function valuesOf(template: string, path: string): ReadonlyMap<string, string> {
  const names = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);
  const pattern = template.replace(/\{wildcard\}/g, "(.+)").replace(/\{[^}]+\}/g, "([^/]+)");
  const match = new RegExp(`^${pattern}$`).exec(path);
  if (!match) throw new Error(`Cannot read the parameters of ${path}: it is not ${template}`);
  return new Map(names.map((name, i) => [name, decodeURIComponent(match[i + 1] ?? "")]));
}

function valueOf(text: string, type: unknown): unknown {
  if (type === "boolean") return text === "true";
  return type === "integer" || type === "number" ? Number(text) : text;
}
