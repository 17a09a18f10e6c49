/**
 * A process in which `miniflare` runs workerd. Its argument is a file with the module's code and what it
 * is bound to. It is no TypeScript, as the types of `miniflare` would change those of `fetch` for all.
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
// workerd is a process of its own, and would outlive a killed one
process.on("SIGTERM", () => miniflare.dispose().then(() => process.exit(0)));
try {
  const { origin } = await miniflare.ready;
  console.log(`Serves at ${origin}`);
} catch (error) {
  console.log(`Cannot start: ${String(error).replaceAll("\n", " ")}`);
  await miniflare.dispose();
}
