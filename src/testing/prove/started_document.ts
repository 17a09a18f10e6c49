/**
 * An application that is started for a part, and its document.
 *
 * @module
 */
import type { ProveContext, StartedApplication } from "./part.ts";

/**
 * Starts an application, and passes it to `work` with the document that it serves, or would serve,
 * as JSON. Disposes it when `work` has ended.
 */
export async function withStarted<T>(
  { start }: Pick<ProveContext, "start">,
  work: (started: StartedApplication, json: unknown) => T | Promise<T>,
): Promise<T> {
  const started = await start();
  try {
    return await work(started, JSON.parse(JSON.stringify(await started.app.openApi())));
  } finally {
    await started[Symbol.asyncDispose]();
  }
}
