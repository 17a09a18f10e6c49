/**
 * A process that logs like an application; with the argument `configured`, it configures LogTape.
 *
 * @module
 */
import { configureSync, getLogger } from "@logtape/logtape";
import process from "node:process";
import { logToConsole } from "../../src/runtime/console_log.ts";

if (process.argv[2] === "configured") {
  configureSync({
    sinks: { own: ({ category }) => console.log(`own ${category.join(".")}`) },
    loggers: [
      { category: "fw", sinks: ["own"] },
      { category: ["logtape", "meta"], sinks: [] },
    ],
  });
}
logToConsole();
logToConsole();
getLogger(["fw", "http"]).info("{method} {path}", { method: "GET", path: "/a\nb" });
getLogger(["fw", "http"]).debug("unseen");
if (process.argv[2] === "failing") {
  const error = new Error("no\r\n2026-01-01 FAKE\x1b[31m", { cause: new Error("1\n2026 FAKE") });
  getLogger(["fw", "http"]).error("failed: {error}", { error });
}
getLogger("app").error("not the framework's");
