/** Runs an application of a given kind, and prints the parts of the OpenAPI layer that it loaded. */
import * as nodeModule from "node:module";
import process from "node:process";

const [kind = "", ...paths] = process.argv.slice(2);
const loaded = watchLoading();

const { controller, FwFactory, module, route } = await import("../../mod.ts");
const schema = kind === "valibot"
  ? await import("valibot").then((v) => v.object({ name: v.string() }))
  : await import("zod").then((z) => z.object({ name: z.string() }));
class ThingsController extends controller() {
  create = route.post("/things", { body: schema, response: schema }, ({ body }) => body);
}
const app = await FwFactory.create(module({ controllers: [ThingsController] }));
if (kind !== "none") app.enableOpenApi();
await app.ready();
for (const path of paths) {
  const response = await app.request(path);
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}`);
  await response.text();
}
const watched = {
  converter: /\/to-json-schema\//,
  yaml: /\/yaml\/(dist|browser)\//,
  document: /\/src\/openapi\/create_document\.ts$/,
  page: /\/src\/openapi\/docs\/docs_page\.ts$/,
  framework: /\/src\/application\/application\.ts$/,
};
const urls = loaded();
console.log(JSON.stringify(
  Object.entries(watched).filter(([, pattern]) => urls.some((url) => pattern.test(url)))
    .map(([name]) => name),
));

/** Watches the modules that are loaded; returns a function that lists them. */
function watchLoading(): () => readonly string[] {
  if (!("registerHooks" in nodeModule)) { // Bun, which lists all modules here
    return () => Object.keys(nodeModule.createRequire(import.meta.url).cache);
  }
  const urls: string[] = [];
  nodeModule.registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      urls.push(resolved.url);
      return resolved;
    },
  });
  return () => urls;
}
