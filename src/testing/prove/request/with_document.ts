/**
 * An application that is started for a part, and its document as a client has it.
 *
 * @module
 */
import type { ProveContext, StartedApplication } from "../part.ts";
import { withStarted } from "../started_document.ts";
import { ServedDocument } from "./served_document.ts";

/** Starts an application, reads its document, and disposes both when `work` has ended. */
export function withDocument<T>(
  context: Pick<ProveContext, "start">,
  work: (started: StartedApplication, document: ServedDocument) => Promise<T>,
): Promise<T> {
  return withStarted(context, async (started, json) => {
    const document = await ServedDocument.read(json);
    try {
      return await work(started, document);
    } finally {
      document[Symbol.dispose]();
    }
  });
}
