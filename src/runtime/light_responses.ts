/**
 * The responses of `@hono/node-server`: they keep their body and headers as they were made, and
 * cost half of a small request on Node once they are asked for more than their status and headers.
 *
 * @module
 */
import type { LightResponses } from "../platform/light_responses.ts";

const SENT = Symbol("fw.sent");

/** A response, and whether it was sent as it was made. */
interface LightResponse extends Response {
  [SENT]?: true;
}

/** Finds out how responses are made, as soon as the global class has been replaced. */
export function findLightResponses(): LightResponses | undefined {
  // what a response was made of, until it has been asked for more
  const madeOf = Object.getOwnPropertySymbols(new Response("")).find(({ description }) =>
    description === "cache"
  );
  return madeOf && {
    sendsAsMade(response: LightResponse) {
      const made: unknown = Reflect.get(response, madeOf);
      if (!Array.isArray(made) || response[SENT] || !isChecked(made)) return false;
      return response[SENT] = true; // a private symbol
    },
    wasSent: (response: LightResponse) => response[SENT] === true,
  };
}

function isChecked([status, body, headers]: readonly unknown[]): boolean {
  return typeof body === "string" && isStatusWithBody(status) &&
    (headers === undefined || headers instanceof Headers || isContentType(headers));
}

function isStatusWithBody(status: unknown): boolean {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599 &&
    ![204, 205, 304].includes(Number(status));
}

/** Checks whether headers are a content type alone, which has no default then. */
function isContentType(headers: unknown): boolean {
  const [[name, value] = ["", ""], ...others] = Object.entries(headers ?? {});
  return others.length === 0 && name.toLowerCase() === "content-type" &&
    typeof value === "string" && /^[\x20-\x7e]+$/.test(value);
}
