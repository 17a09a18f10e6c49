/**
 * A process that logs like an application; with the argument `configured`, it configures LogTape,
 * with `failing` it logs an error, and with `odd` errors that cannot be shown completely.
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
  logFailure(error);
}
if (process.argv[2] === "odd") { for (const error of oddErrors()) logFailure(error); }
getLogger("app").error("not the framework's");

function logFailure(error: unknown): void {
  getLogger(["fw", "http"]).error("failed: {error}", { error });
}

function oddErrors(): readonly unknown[] {
  const fail = () => {
    throw new Error("it cannot be read");
  };
  const getter = Object.defineProperty(new Error("getter"), "x", { enumerable: true, get: fail });
  const converted = Object.assign(new Error("converted"), { x: { toJSON: fail } });
  let deep = new Error("0");
  for (let i = 0; i < 50_000; i++) deep = new Error("deep", { cause: deep });
  const trap = new Proxy(new Error("trap"), { get: fail, getPrototypeOf: fail });
  const message = Object.defineProperty(new Error("kept in its stack"), "message", { get: fail });
  return [getter, converted, deep, trap, message];
}
