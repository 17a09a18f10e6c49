/**
 * Reads server-sent events (https://html.spec.whatwg.org/#event-stream-interpretation).
 *
 * @module
 */
import type { ServerSentEvent } from "./call.ts";

/** Yields the events of a response; a reader that leaves the loop cancels the response. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerSentEvent<unknown>> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = "";
  let id = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader?.read() ?? { done: true };
      if (done) return; // an event without its empty line is dropped
      const text = rest + value;
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [, field, content = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (field === "event") event = content;
        else if (field === "data") data.push(content);
        else if (field === "id" && !content.includes("\0")) id = content;
        else if (line === "") {
          const whole = data.join("\n");
          if (data.length > 0) {
            yield { event: event || "message", data: whole, id, json: () => JSON.parse(whole) };
          }
          event = "";
          data = [];
        }
      }
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}
