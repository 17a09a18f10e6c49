/**
 * The services of resources.
 *
 * @module
 */
import type { ModelFields, ReferredModel } from "../fields/model_fields.ts";
import type { ResourceTemplate } from "./resource_code.ts";

/** Returns the service of a resource. */
export function resourceService(
  { one, many, accessor, fields, database }: ResourceTemplate,
): string {
  const { tenant } = fields;
  const references = tenantReferences(fields);
  const first = tenant === undefined ? "" : `${tenant}: string, `;
  const checked = (work: string) =>
    references.length === 0
      ? `    return ${work};`
      : `    await this.#checkReferences(${tenant}, data);\n    return await ${work};`;
  const async = references.length === 0 ? "" : "async ";
  const rows = tenant === undefined ? `this.#db.${accessor}` : `this.#of(${tenant})`;
  return `import { ${
    references.length === 0 ? "" : "ConflictException, "
  }inject, NotFoundException } from "@fw/fw";
import type { Page } from "@fw/fw/db";
import { Db } from "${database}";
import type {
  Create${one.pascal}Dto,
  ${one.pascal}Key,
  ${many.pascal}Query,
  Update${one.pascal}Dto,
} from "./${one.snake}_dto.ts";
import type { ${one.pascal} } from "./${one.snake}_model.ts";

export class ${many.pascal}Service {
  readonly #db = inject(Db);

  ${async}create(${first}data: Create${one.pascal}Dto): Promise<${one.pascal}> {
${checked(`${rows}.create({ data })`)}
  }

  page(${first}query: ${many.pascal}Query): Promise<Page<${one.pascal}>> {
    return ${rows}.page(query);
  }

  async one(${first}key: ${one.pascal}Key): Promise<${one.pascal}> {
    return await ${rows}.findUnique({ where: key }) ??
      NotFoundException.throw("No such ${one.prose}");
  }

  ${async}update(${first}key: ${one.pascal}Key, data: Update${one.pascal}Dto): Promise<${one.pascal}> {
${checked(`${rows}.update({ where: key, data })`)}
  }

  delete(${first}key: ${one.pascal}Key): Promise<${one.pascal}> {
    return ${rows}.delete({ where: key });
  }
${
    tenant === undefined ? "" : `
  /** The ${many.prose} of one tenant, which is part of every query. */
  #of(${tenant}: string) {
    return this.#db.${accessor}.scoped({ ${tenant} });
  }
`
  }${
    references.length === 0 ? "" : `
  /** Refuses rows of other tenants, as rows that do not exist: the database accepts them. */
  async #checkReferences(
    ${tenant}: string,
    data: Pick<Update${one.pascal}Dto, ${references.map(({ name }) => `"${name}"`).join(" | ")}>,
  ): Promise<void> {
${references.map((it) => referenceCheck(it, { tenant, accessor })).join("")}  }
`
  }}
`;
}

/** A field that refers to rows of the tenant. */
export interface TenantReference {
  readonly name: string;
  readonly isNullable: boolean;
  readonly target: ReferredModel;
}

/** Returns the fields that refer to rows of the tenant. */
export function tenantReferences(
  { specs, referred }: ModelFields,
): readonly TenantReference[] {
  return specs.flatMap(({ name, isNullable }) => {
    const target = referred.get(name);
    return target?.hasTenant ? [{ name, isNullable, target }] : [];
  });
}

/** Returns the code that checks a reference, in a service of the tenant. */
export function referenceCheck(
  { name, target }: TenantReference,
  { tenant, accessor }: { readonly tenant: string | undefined; readonly accessor: string },
): string {
  const repository = `this.#db.${target.accessor || accessor}.scoped({ ${tenant} })`;
  return `    if (
      data.${name} !== undefined && data.${name} !== null &&
      !await ${repository}.exists({ where: { ${target.column}: data.${name} } })
    ) throw new ConflictException("${name} refers to no row");
`;
}
