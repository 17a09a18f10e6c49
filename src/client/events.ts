/**
 * Reads server-sent events (https://html.spec.whatwg.org/#event-stream-interpretation).
 *
 * @module
 */
import type { ServerSentEvent } from "./call.ts";
import { MAX_LENGTH } from "./limits.ts";
import { textsOf } from "./texts.ts";

/**
 * Yields the events of a response; a reader that leaves the loop cancels the response. One with
 * status 204 has none.
 *
 * @throws {RangeError} if an event has more than 16 777 216 characters
 * @throws {TypeError} if the response is not an event stream
 */
export async function* eventsOf(response: Response): AsyncGenerator<ServerSentEvent<unknown>> {
  const type = response.headers.get("content-type");
  if (response.status !== 204 && !/^text\/event-stream *(;|$)/i.test(type ?? "")) {
    await response.body?.cancel();
    throw new TypeError(`Cannot read events: the answer is ${type ?? "untyped"}`);
  }
  let rest = "";
  let isAfterReturn = false;
  let event = "";
  let id = "";
  let data: string[] = [];
  let length = 0;
  // an event without its empty line is dropped
  for await (const value of textsOf(response)) {
    const text = isAfterReturn ? value.replace(/^\n/, "") : value;
    isAfterReturn = value.endsWith("\r");
    const lines = text.split(/\r\n|[\r\n]/);
    lines[0] = rest + lines[0]; // only new text is searched, so that the time is linear
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, field, content = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "event") event = content;
      else if (field === "data") {
        data.push(content);
        length += line.length;
      } else if (field === "id" && !content.includes("\0")) id = content;
      else if (line === "") {
        const whole = data.join("\n");
        if (data.length > 0) {
          yield { event: event || "message", data: whole, id, json: () => JSON.parse(whole) };
        }
        event = "";
        data = [];
        length = 0;
      }
    }
    if (event.length + id.length + length + rest.length > MAX_LENGTH) {
      throw new RangeError(`Cannot read events: one has more than ${MAX_LENGTH} characters`);
    }
  }
}
