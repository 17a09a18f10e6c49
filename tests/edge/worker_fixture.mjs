/**
 * A process in which `miniflare` runs workerd. Its argument is a file with the code and the bindings of
 * the module. It is JavaScript because the types of `miniflare` would change the global type of `fetch`.
 *
 * @module
 */
import { Miniflare } from "miniflare";
import { readFileSync } from "node:fs";
import process from "node:process";

const { code, text, databases, flags } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const miniflare = new Miniflare({
  modules: [{ type: "ESModule", path: "worker.js", contents: code }],
  bindings: text,
  d1Databases: databases,
  compatibilityDate: "2026-07-01",
  compatibilityFlags: flags,
  handleStructuredLogs: ({ message }) => console.log(message),
});
// workerd is a separate process, which would outlive this one if it were killed
process.on("SIGTERM", () => miniflare.dispose().then(() => process.exit(0)));
try {
  const { origin } = await miniflare.ready;
  console.log(`Serves at ${origin}`);
} catch (error) {
  console.log(`Cannot start: ${String(error).replaceAll("\n", " ")}`);
  await miniflare.dispose();
}
