/**
 * Adding the database to the health of a project.
 *
 * @module
 */
import { importName } from "./imports.ts";
import { insertAll, parseModule } from "./syntax.ts";

const CALL = '.enableHealthCheck("/health")';
const INDICATORS = ", { indicators: { db: () => app.get(Db).ping() } }";

/**
 * Has the health check of an application look at its database. Gives the new text; nothing if the check
 * is not written as a new project has it.
 */
export async function addHealthIndicator(
  source: string,
  { from }: { readonly from: string },
): Promise<string | undefined> {
  const at = source.indexOf(CALL);
  const isAsMade = at !== -1 && at === source.lastIndexOf(CALL) &&
    /\bsetUp\(app: FwApplication\)/.test(source);
  const program = isAsMade ? await parseModule(source) : undefined;
  const imported = program && importName(source, { program, name: "Db", from });
  if (imported === undefined) return undefined;
  const text = insertAll(source, [...imported, { at: at + CALL.length - 1, text: INDICATORS }]);
  return await parseModule(text) && text;
}
