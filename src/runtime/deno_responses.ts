/**
 * Responses as `Deno.serve` can send them.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";

/** The controls that no field value can have (RFC 9110 §5.5), without those that `Headers` refuses. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Returns the response, or one with the status 500 if a header of it has a control character: Deno
 * ends the process instead of sending it.
 */
export function sendable(response: Response): Response {
  let invalid: string | undefined;
  response.headers.forEach((value, name) => {
    if (CONTROL.test(value)) invalid = name;
  });
  if (invalid === undefined) return response;
  getLogger(["fw", "runtime"]).error(
    "Cannot send a response: its header {name} has a control character",
    { name: invalid },
  );
  response.body?.cancel().catch(() => {}); // it is not read, and its source would not end
  return problem({ status: 500, title: "Internal Server Error" });
}

/** The response to a request whose body does not arrive before the server stops. */
export function tooLate(): Response {
  return problem(
    { status: 503, title: "Service Unavailable", detail: "The server is stopping" },
    { connection: "close", "retry-after": "1" },
  );
}

/** Sets a body that has no length: Deno sends none for a stream. */
export function withEmptyStream(response: Response): Response {
  return new Response(new ReadableStream({ start: (stream) => stream.close() }), response);
}

function problem(
  members: { readonly status: number; readonly title: string; readonly detail?: string },
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ type: "about:blank", ...members }, {
    status: members.status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}
