/**
 * The properties of log lines of a run.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { getConfig, withContext } from "@logtape/logtape";
import { keepLogContext } from "../../platform/telemetry/log_context.ts";
import type { JobInfo } from "../engine.ts";

/** Adds the properties of a run to the log lines that are written in it. */
export function keepJobContext(): void {
  keepLogContext(new AsyncLocalStorage());
}

/**
 * Runs a handler, whose log lines have the properties `job` and `jobId`. This needs the
 * `contextLocalStorage` of LogTape; without one, LogTape would warn at each run.
 */
export function withJobContext<T>({ name, id }: JobInfo, handle: () => T): T {
  if (!getConfig()?.contextLocalStorage) return handle();
  return withContext({ job: name, jobId: id }, handle);
}
