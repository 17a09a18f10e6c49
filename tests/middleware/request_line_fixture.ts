/**
 * A process that prints the line of a request, and then what LogTape prints for the same record;
 * with the argument `configured`, it configures LogTape in between.
 *
 * @module
 */
import { configureSync, getLogger } from "@logtape/logtape";
import { Hono } from "hono";
import process from "node:process";
import { requestTracing } from "../../src/middleware/request_tracing.ts";
import { logToConsole } from "../../src/runtime/log/console_log.ts";

logToConsole();
if (process.argv[2] === "configured") {
  configureSync({
    reset: true,
    sinks: { own: ({ properties }) => console.log(`own ${properties.path}`) },
    loggers: [{ category: "fw", sinks: ["own"] }, { category: ["logtape", "meta"], sinks: [] }],
  });
}
const app = new Hono().use(requestTracing({ now: () => 1 }));
await app.request("/a%0Ab\u202e?token=secret");
const line = { method: "GET", path: "/a%0Ab%E2%80%AE", status: 404, durationMs: 0 };
getLogger(["fw", "http"]).info("{method} {path} {status} in {durationMs} ms", line);
