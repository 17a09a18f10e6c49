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
    super(`Cannot ${call}: ${problem.status} ${problem.detail ?? problem.title}`);
    this.problem = problem;
    this.response = response;
  }
}

/** Reads the problem of a response; its members are missing if the body is not a JSON object. */
export async function problemOf(response: Response): Promise<Problem> {
  const { status, statusText, url } = response;
  const text = await response.text();
  let members: Partial<Problem> = {};
  try {
    const json: unknown = isJson(response) ? JSON.parse(text) : undefined;
    if (typeof json === "object" && !Array.isArray(json)) members = json ?? {};
  } catch {
    // the answer of a proxy
  }
  const title = statusText || `Status ${status}`;
  return { type: "about:blank", title, instance: url, ...members, status };
}

/** Checks whether the body of a response is JSON. */
export function isJson({ headers }: Response): boolean {
  return /[/+]json\b/.test(headers.get("content-type") ?? "");
}
