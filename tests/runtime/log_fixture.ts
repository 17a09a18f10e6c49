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
getLogger("app").error("not the framework's");
