/**
 * A process that logs like an application; with the argument `configured`, it configures LogTape,
 * with `failing` it logs an error, with `odd` errors that cannot be shown completely, and with
 * `large` errors that would be large.
 *
 * @module
 */
import { configureSync, getLogger } from "@logtape/logtape";
import process from "node:process";
import { logToConsole } from "../../src/runtime/log/console_log.ts";

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
if (process.argv[2] === "large") { for (const error of largeErrors()) logFailure(error); }
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

function largeErrors(): readonly unknown[] {
  const input = Array(5_000).fill({ password: "hunter2" });
  const issues = input.map((value, i) => ({
    message: "Invalid",
    input: value,
    path: [{ key: "first", input }, { key: i, input: value }],
  }));
  const wide = Object.fromEntries(input.map((_, i) => [`wide${i}`, { a: { b: { c: input } } }]));
  let chain = new Error("last");
  for (let i = 0; i < 5_000; i++) chain = new Error(`cause ${i}`, { cause: chain });
  return [
    Object.assign(new Error("Invalid"), { issues }),
    Object.assign(new Error("wide"), wide),
    new Error("\x01".repeat(1_000_000)),
    new AggregateError(Array.from({ length: 5_000 }, () => new Error("one of many")), "many"),
    chain,
    { bytes: new Uint8Array(1_000_000), map: new Map(Object.entries(wide)), text: "x".repeat(1e6) },
  ];
}
