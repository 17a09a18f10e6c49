/**
 * The path templates of a route: `/users/:id` is `/users/{id}`.
 *
 * @module
 */
import { CONSTRAINT, segmentsOf } from "../core/path.ts";

/** A path as OpenAPI has it: it knows no optional parameters and no wildcards. */
export interface PathTemplate {
  /** The template, such as `/users/{id}`. */
  readonly template: string;
  /** Its parameters, in order. */
  readonly params: readonly PathParameter[];
  /** The optional parameter that it leaves out. */
  readonly without?: string;
}

/** A parameter of a path. */
export interface PathParameter {
  /** Its name in the template. */
  readonly name: string;
  /** Its constraint, a regular expression for the whole value. */
  readonly pattern?: string;
  /** Whether it stands for all segments that are left, and is no parameter of the route's. */
  readonly isWildcard: boolean;
}

/** Gives the templates of a pattern: two, if its last parameter is optional. */
export function templatesOf(pattern: string): readonly PathTemplate[] {
  const segments = segmentsOf(pattern);
  const params: PathParameter[] = [];
  const written = segments.map((segment) => {
    const param = parameterOf(segment, params.filter(({ isWildcard }) => isWildcard).length);
    if (!param) return segment;
    params.push(param);
    return `{${param.name}}`;
  });
  const whole = { template: `/${written.join("/")}`, params };
  if (!segments.at(-1)?.endsWith("?")) return [whole];
  const without = params.at(-1)?.name ?? "";
  return [
    { template: `/${written.slice(0, -1).join("/")}`, params: params.slice(0, -1), without },
    whole,
  ];
}

/** Gives the shape of a template: two templates of one shape are one path to OpenAPI. */
export function templateShape(template: string): string {
  return template.replace(/\{[^}]*\}/g, "{}");
}

function parameterOf(segment: string, wildcards: number): PathParameter | undefined {
  if (segment === "*") {
    return { name: `wildcard${wildcards > 0 ? wildcards + 1 : ""}`, isWildcard: true };
  }
  if (!segment.startsWith(":")) return undefined;
  const [constraint] = segment.match(CONSTRAINT) ?? [];
  const name = segment.slice(1).replace(CONSTRAINT, "").replace(/\?$/, "");
  return {
    name,
    isWildcard: false,
    ...constraint && { pattern: `^(?:${constraint.slice(1, -1)})$` },
  };
}
