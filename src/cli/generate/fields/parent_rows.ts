/**
 * The rows that the tests of a model need: those that its own refer to.
 *
 * @module
 */
import { specifierOf } from "../target.ts";
import type { ModelFields, ReferredModel } from "./model_fields.ts";

/** Code of a test. */
export interface ParentRows {
  /** The imports. */
  readonly imports: string;
  /** The statements that create the rows in `db`. */
  readonly rows: string;
  /** The further argument of `factory`, with the keys of the rows. */
  readonly values: string;
}

/** Returns the code that creates the rows that required fields refer to. */
export function parentRows(
  { specs, referred, tenant }: ModelFields,
  { folder }: { readonly folder: string },
): ParentRows {
  const required = specs.filter(({ isNullable }) => !isNullable)
    .flatMap(({ name }) => {
      const target = referred.get(name);
      return target ? [[name, target] as const] : [];
    });
  const targets = new Map<string, ReferredModel>(
    required.map(([, target]) => [target.name, target]),
  );
  const values = required.map(([name, { accessor, column }]) =>
    `${name}: ${accessor}Row.${column}`
  );
  return {
    imports: Array.from(
      targets.values(),
      ({ name, file }) => `import { ${name} } from "${specifierOf(folder, file)}";\n`,
    ).join(""),
    rows: Array.from(
      targets.values(),
      ({ name, accessor, hasTenant }) => {
        const values = hasTenant ? `, { ${tenant}: "a" }` : "";
        return `  const ${accessor}Row = await db.${accessor}.create({ data: factory(${name}${values}).build() });\n`;
      },
    ).join(""),
    values: values.length > 0 ? `, { ${values.join(", ")} }` : "",
  };
}
