/**
 * The error of a call that was answered with a problem.
 *
 * @module
 */
import type { Problem } from "../core/http/problem.ts";

/** A call was answered with a status from 400. */
export class ProblemError extends Error {
  /** The name of the class. */
  override readonly name = "ProblemError";
  /** The problem document; one with the status alone if the body is not JSON. */
  readonly problem: Problem;
  /** The response, whose body was read. */
  readonly response: Response;

  /** Creates the error of a call, such as `GET /cats/7`. */
  constructor(call: string, { problem, response }: Pick<ProblemError, "problem" | "response">) {
    // a server can send any JSON in place of a text
    const reason = [problem.detail, problem.title].find((text) => typeof text === "string");
    super(`Cannot ${call}: ${problem.status} ${reason ?? ""}`.trimEnd());
    this.problem = problem;
    this.response = response;
  }
}

/** Reads the problem in the text of a response; without a JSON object, it has the status alone. */
export function problemOf(response: Response, text: string): Problem {
  const { status, statusText, url } = response;
  let members: Partial<Problem> | null = null;
  try {
    const json: unknown = isJson(response) && JSON.parse(text);
    if (typeof json === "object" && !Array.isArray(json)) members = json;
  } catch {
    // the answer of a proxy
  }
  const title = statusText || `Status ${status}`;
  return { type: "about:blank", title, instance: url, ...members, status };
}

/** Checks whether the body of a response is JSON. */
export function isJson({ headers }: Response): boolean {
  return /^[^;]*[/+]json *(;|$)/i.test(headers.get("content-type") ?? "");
}
