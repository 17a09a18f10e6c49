/**
 * Editing an application and its tests so that they use the database.
 *
 * @module
 */
import { importName } from "./imports.ts";
import { insertAll, parseModule } from "./syntax.ts";

const CALL = '.enableHealthCheck("/health")';
const INDICATORS = ", { indicators: { db: () => app.get(Db).ping() } }";

/**
 * Adds the database to the health check of an application. Returns the new text, or `undefined` if
 * the check differs from that of a new project.
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

const OVERRIDE = "provide(Db, openTestDatabase)";

/** The specifiers of the imports that the override needs, by name. */
export type OverrideImports = Readonly<Record<"provide" | "Db" | "openTestDatabase", string>>;

/**
 * Makes the tests of an application open a database in memory. Returns the new text, the same if
 * they do already, or `undefined` if they differ from those of a new project.
 */
export async function overrideDatabase(
  source: string,
  imports: OverrideImports,
): Promise<string | undefined> {
  if (source.includes("openTestDatabase")) return source;
  const edited = source
    .replaceAll(
      "createTestApplication(AppModule, { setUp })",
      (call) => call.replace("{", `{ overrides: [${OVERRIDE}],`),
    )
    .replaceAll("overrides: [\n", (start) => `${start}      ${OVERRIDE},\n`);
  if (edited === source) return undefined;
  return await importAll(edited, Object.entries(imports));
}

async function importAll(
  source: string,
  [first, ...others]: readonly (readonly [name: string, from: string])[],
): Promise<string | undefined> {
  if (first === undefined) return source;
  const [name, from] = first;
  const program = await parseModule(source);
  const imported = program && importName(source, { program, name, from });
  return imported && await importAll(insertAll(source, imported), others);
}
