/**
 * The path templates of a route: `/users/:id` is `/users/{id}`.
 *
 * @module
 */
import { CONSTRAINT, segmentsOf } from "../../core/route/path.ts";

/** A path of OpenAPI, which has no optional parameters and no wildcards. */
export interface PathTemplate {
  /** The template, such as `/users/{id}`. */
  readonly template: string;
  /** Its parameters, in order. */
  readonly params: readonly PathParameter[];
  /** The omitted optional parameter or wildcard at the end. */
  readonly without?: string;
}

/** A parameter of a path. */
export interface PathParameter {
  /** Its name in the template. */
  readonly name: string;
  /** Its constraint: a regular expression for the whole value. */
  readonly pattern?: string;
  /** Whether it matches all remaining segments, and is not a parameter of the route. */
  readonly isWildcard: boolean;
}

/** Returns the templates of a pattern: two if its last parameter is optional or a wildcard. */
export function templatesOf(pattern: string): readonly PathTemplate[] {
  const segments = segmentsOf(pattern);
  const named = segments.filter((segment) => segment.startsWith(":")).map(namedParameter);
  const names = new Set(named.map(({ name }) => name));
  const params: PathParameter[] = [];
  const written = segments.map((segment) => {
    if (segment !== "*" && !segment.startsWith(":")) return segment;
    const param = segment === "*" ? wildcard(names) : namedParameter(segment);
    params.push(param);
    return `{${param.name}}`;
  });
  const whole = { template: `/${written.join("/")}`, params };
  const last = segments.at(-1);
  if (!last?.endsWith("?") && last !== "*") return [whole];
  const without = params.at(-1)?.name ?? "";
  return [
    { template: `/${written.slice(0, -1).join("/")}`, params: params.slice(0, -1), without },
    whole,
  ];
}

/** Returns the shape of a template: templates of the same shape are the same path in OpenAPI. */
export function templateShape(template: string): string {
  return template.replace(/\{[^}]*\}/g, "{}");
}

function namedParameter(segment: string): PathParameter {
  const [constraint] = segment.match(CONSTRAINT) ?? [];
  const name = segment.slice(1).replace(CONSTRAINT, "").replace(/\?$/, "");
  return {
    name,
    isWildcard: false,
    ...constraint && { pattern: `^(?:${constraint.slice(1, -1)})$` },
  };
}

/** Returns a wildcard whose name differs from those of all parameters. */
function wildcard(names: Set<string>): PathParameter {
  let name = "wildcard";
  for (let i = 2; names.has(name); i++) name = `wildcard${i}`;
  names.add(name);
  return { name, isWildcard: true };
}
