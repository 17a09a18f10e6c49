/**
 * Bodies of responses whose cancellation has no effect beyond them.
 *
 * @module
 */

/** The type of a form that Node 24 writes itself. */
const NODE_FORM = /^multipart\/form-data; *boundary=-+formdata-undici-/i;

/**
 * Returns the body of a response, as a stream that can be cancelled. That of a `FormData` on Node
 * 24 cannot: Node writes all of it at once, and if the stream is closed meanwhile, fails with an
 * unhandled rejection, which ends the process. Such a stream is read to its end instead.
 */
export function cancellableBody({ body, headers, url }: Response): ReadableStream | null {
  if (body === null || body.locked || url !== "") return body; // `fetch` has written no form
  if (!NODE_FORM.test(headers.get("content-type") ?? "")) return body;
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      reader.releaseLock();
      body.pipeTo(new WritableStream()).catch(() => {}); // a file of the form may be unreadable
    },
  }, { highWaterMark: 0 });
}
