/**
 * Requests and answers as lines of a report.
 *
 * @module
 */
import type { Caller } from "../part.ts";
import type { SentRequest } from "./sent_request.ts";

/** How much of a body is shown. */
const MAX_SHOWN = 1000;

/**
 * Returns the `curl` command of a request. What identifies its caller is secret, and in variables:
 * `$ANN` is its token, `$ANN_X_API_KEY` another header.
 */
export function curl(
  { method, path, headers, body }: SentRequest,
  { name: caller, headers: own = {} }: Pick<Caller, "name" | "headers">,
): string {
  const given = Object.entries(headers).map(([name, value]) => {
    if (own[name] !== value) return `-H ${quoted(`${name}: ${value}`)}`;
    const isToken = name.toLowerCase() === "authorization" && value.startsWith("Bearer ");
    const variable = (isToken ? caller : `${caller} ${name}`).toUpperCase().replaceAll(/\W/g, "_");
    return `-H "${name}: ${isToken ? "Bearer " : ""}$${variable}"`;
  });
  const words = [
    "curl -i",
    ...method === "HEAD" ? ["--head"] : method === "GET" ? [] : [`-X ${method}`],
    quoted(`http://localhost:3000${path}`),
    ...given,
    ...body === undefined ? [] : [bodyOption(body)],
  ];
  return words.join(" ");
}

/** Describes an answer. */
export function describeAnswer({ status, headers }: Response, body: string): string {
  const type = headers.get("content-type");
  const text = body.length > MAX_SHOWN ? `${body.slice(0, MAX_SHOWN)}...` : body;
  return `# ${status}${type ? ` ${type}` : ""}${text ? `: ${text.replaceAll(/\s+/g, " ")}` : ""}`;
}

function bodyOption(body: BodyInit): string {
  if (body instanceof FormData) {
    return [...body].map(([name, value]) =>
      `-F ${quoted(`${name}=${typeof value === "string" ? value : `@${value.name}`}`)}`
    ).join(" ");
  }
  if (body instanceof Uint8Array) {
    const octal = [...body].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    return `--data-binary @<(printf ${quoted(octal)})`;
  }
  const text = String(body);
  return text.length > MAX_SHOWN
    ? `--data-binary ${quoted(text.slice(0, 40))} # ... of ${text.length} characters`
    : `--data-binary ${quoted(text)}`;
}

/** Quotes a word for a shell (POSIX, Shell Command Language §2.2.2). */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
