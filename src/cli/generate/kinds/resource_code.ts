/**
 * The controllers and DTOs of resources.
 *
 * @module
 */
import type { EntityName } from "../../project/entity_name.ts";
import type { ModelFields } from "../fields/model_fields.ts";
import type { ParentRows } from "../fields/parent_rows.ts";

/** The names of a resource, and the specifiers of files that it imports. */
export interface ResourceTemplate {
  /** The singular. */
  readonly one: EntityName;
  /** The plural. */
  readonly many: EntityName;
  /** The name of its repository. */
  readonly accessor: string;
  /** The field that is the key of its model. */
  readonly key: string;
  /** The fields of its model. */
  readonly fields: ModelFields;
  /** The rows that its tests need. */
  readonly parents: ParentRows;
  /** The path of its routes, below the prefix and the version: `admin/cats`. */
  readonly prefix: string;
  /** The specifier of the file of the database. */
  readonly database: string;
  /** The specifier of the file that opens the database of tests. */
  readonly testDatabase: string;
  /** The specifier of the file of the tenant of a caller. */
  readonly callerTenant: string;
}

/** The description of the 409 of a row that is written. */
export const CONFLICT = "A value is taken, or refers to no row";

/** Returns the DTOs of a resource: of its requests and responses. */
export function resourceDto({ one, many, key, fields }: ResourceTemplate): string {
  const { specs, tenant, unique, referred } = fields;
  const own = specs.filter(({ name }) => name !== tenant);
  const keys = unique.flat();
  const filtered = own.filter(({ name, kind, isUnique }) =>
    isUnique || keys.includes(name) || referred.has(name) || kind === "enum" || kind === "boolean"
  );
  const sorted = own.filter(({ kind }) => !["json", "blob"].includes(kind)).slice(0, 1);
  const names = (list: readonly { readonly name: string }[]) =>
    `[${list.map(({ name }) => `"${name}"`).join(", ")}]`;
  const list = [
    filtered.length > 0 && `filter: ${names(filtered)}`,
    `sort: ${names([{ name: key }, ...sorted])}`,
  ].filter(Boolean).join(", ");
  const hidden = tenant === undefined ? "" : `, { omit: ["${tenant}"] }`;
  return `import { dto } from "@fw/fw";
import {
  createSchemaOf,
  keySchemaOf,
  listOf,
  type ListQuery,
  schemaOf,
  updateSchemaOf,
} from "@fw/fw/db/schemas";
import type * as v from "valibot";
import { ${one.pascal} } from "./${one.snake}_model.ts";

/** The key of ${one.withArticle()}, in a path. */
export const ${one.pascal}Key = dto("${one.pascal}Key", keySchemaOf(${one.pascal}));
export type ${one.pascal}Key = v.InferOutput<typeof ${one.pascal}Key>;

/** A page of ${many.prose}, in a query. */
export const ${many.pascal}Query = listOf(${one.pascal}, { ${list} });
export type ${many.pascal}Query = ListQuery<typeof ${one.pascal}>;

/** The body of a request that creates ${one.withArticle()}. */
export const Create${one.pascal}Dto = dto("Create${one.pascal}Dto", createSchemaOf(${one.pascal}${hidden}));
export type Create${one.pascal}Dto = v.InferOutput<typeof Create${one.pascal}Dto>;

/** The fields of ${one.withArticle()} to change. */
export const Update${one.pascal}Dto = dto("Update${one.pascal}Dto", updateSchemaOf(${one.pascal}${hidden}));
export type Update${one.pascal}Dto = v.InferOutput<typeof Update${one.pascal}Dto>;

/** ${
    one.withArticle().replace(/^a/, "A")
  } in a response: fields that are not declared are never sent. */
export const ${one.pascal}Row = dto("${one.pascal}Row", schemaOf(${one.pascal}${hidden}));
`;
}

/** Returns the controller of a resource. */
export function resourceController(
  { one, many, key, fields, prefix, callerTenant }: ResourceTemplate,
): string {
  const hasTenant = fields.tenant !== undefined;
  const args = hasTenant ? "\n    args: { tenant: callerTenant }," : "";
  const [input, first] = hasTenant ? [", tenant", "tenant, "] : ["", ""];
  const forbidden = hasTenant ? ['403: "The token names no tenant"'] : [];
  const canConflict = fields.unique.length > 0 ||
    fields.specs.some(({ isUnique, reference }) => isUnique || reference !== undefined);
  const written = [
    ...forbidden,
    ...canConflict ? [`409: "${CONFLICT}"`] : [],
  ];
  const responses = (refusals: readonly string[]) =>
    refusals.length === 0 ? "" : `, responses: { ${refusals.join(", ")} }`;
  return `import { controller, inject, route } from "@fw/fw";
import { pageOf } from "@fw/fw/db/schemas";
${hasTenant ? `import { callerTenant } from "${callerTenant}";\n` : ""}import {
  Create${one.pascal}Dto,
  ${one.pascal}Key,
  ${one.pascal}Row,
  ${many.pascal}Query,
  Update${one.pascal}Dto,
} from "./${one.snake}_dto.ts";
import { ${many.pascal}Service } from "./${many.snake}_service.ts";

export class ${many.pascal}Controller extends controller("${prefix}", { version: "v1" }) {
  readonly #${many.camel} = inject(${many.pascal}Service);

  create = route.post("/", {
    body: Create${one.pascal}Dto,${args}
    response: ${one.pascal}Row,
    status: 201,
    openapi: {
      summary: "Create ${one.withArticle()}",
      responses: {
        201: { description: "The ${one.prose}", headers: { Location: "The path of the ${one.prose}" } },${
    written.map((refusal) => `\n        ${refusal},`).join("")
  }
      },
    },
  }, async ({ body${input} }, c) => {
    const row = await this.#${many.camel}.create(${first}body);
    c.header("Location", \`\${c.req.path.replace(/\\/$/, "")}/\${row.${key}}\`);
    return row;
  });

  list = route.get("/", {
    query: ${many.pascal}Query,${args}
    response: pageOf(${one.pascal}Row),
    openapi: { summary: "List ${many.prose}"${responses(forbidden)} },
  }, ({ query${input} }) => this.#${many.camel}.page(${first}query));

  one = route.get("/:${key}", {
    params: ${one.pascal}Key,${args}
    response: ${one.pascal}Row,
    openapi: { summary: "Find ${one.withArticle()}"${responses(forbidden)} },
  }, ({ params${input} }) => this.#${many.camel}.one(${first}params));

  update = route.patch("/:${key}", {
    params: ${one.pascal}Key,
    body: Update${one.pascal}Dto,${args}
    response: ${one.pascal}Row,
    openapi: { summary: "Change ${one.withArticle()}"${responses(written)} },
  }, ({ params, body${input} }) => this.#${many.camel}.update(${first}params, body));

  delete = route.delete("/:${key}", {
    params: ${one.pascal}Key,${args}
    response: ${one.pascal}Row,
    openapi: { summary: "Delete ${one.withArticle()}"${
    responses([...forbidden, '409: "Other rows refer to it"'])
  } },
  }, ({ params${input} }) => this.#${many.camel}.delete(${first}params));
}
`;
}
