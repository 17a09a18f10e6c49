/**
 * The texts of responses.
 *
 * @module
 */
import { MAX_LENGTH } from "./limits.ts";

/** Yields the parts of the text of a response; a reader that leaves the loop cancels it. */
export async function* textsOf({ body }: Response): AsyncGenerator<string, void, undefined> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader?.read() ?? { done: true };
      const text = decoder.decode(value, { stream: !done });
      if (text) yield text;
      if (done) return;
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

/**
 * Returns the text of a response to a call, such as `GET /cats/7`. A compressed answer of a few
 * kilobytes could otherwise fill the memory.
 *
 * @throws {RangeError} if it has more than 16 777 216 characters
 */
export async function wholeText(response: Response, call: string): Promise<string> {
  if (!response.body) return await response.text(); // some platforms have no streams
  let whole = "";
  for await (const text of textsOf(response)) {
    whole += text;
    if (whole.length <= MAX_LENGTH) continue;
    throw new RangeError(`Cannot ${call}: the answer has more than ${MAX_LENGTH} characters`);
  }
  return whole;
}
