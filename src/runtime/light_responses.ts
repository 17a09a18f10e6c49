/**
 * The light responses of Node and Deno: the server sends the parts of which a response was made;
 * the rest of a `Response` is created only for whoever reads it. On Node that takes half of a small
 * request.
 *
 * @module
 */
import { setLightResponses } from "../platform/light_responses.ts";

/** How a runtime keeps the parts of a response. */
export interface ResponseParts {
  /** The description of the symbol under which it keeps them until the response is read. */
  readonly property: string;
  /** Checks whether they can be sent: a text, with a status and headers that are valid. */
  readonly areSendable: (parts: unknown) => boolean;
  /** Checks whether a response has a body; without its parts, it may have been read. */
  readonly hasBody: (response: Response, parts: unknown) => boolean;
}

/** Those of `Response` of `@hono/node-server`, which checks neither its status nor its headers. */
export const NODE_PARTS: ResponseParts = {
  property: "cache",
  areSendable: (parts) =>
    Array.isArray(parts) && typeof parts[1] === "string" && mayHaveBody(parts[0]) &&
    areChecked(parts[2]),
  hasBody: (response, parts) =>
    Array.isArray(parts) ? (parts[1] ?? null) !== null : response.body !== null,
};

/** Registers the light responses of a runtime, if it keeps their parts under that symbol. */
export function registerLightResponses({ property, areSendable, hasBody }: ResponseParts): void {
  const symbol = symbolOf(new Response(""), property);
  if (symbol === undefined) return;
  setLightResponses({
    hasParts: (response) => Reflect.get(response, symbol) !== undefined,
    isSendable: (response) => areSendable(Reflect.get(response, symbol)),
    hasBody: (response) => hasBody(response, Reflect.get(response, symbol)),
  });
}

/**
 * Makes the light responses of Node have headers of their own, as `Response` of the Fetch standard
 * does: `@hono/node-server` keeps the `Headers` that one was created with. If these are a constant,
 * each response would get the cookies that middleware has added to those before it.
 */
export function separateHeaders({ property }: ResponseParts): void {
  const symbol = symbolOf(new Response(""), property);
  const { prototype } = Response;
  const get = Object.getOwnPropertyDescriptor(prototype, "headers")?.get;
  if (symbol === undefined || !get || get.name === ownHeaders.name) return; // another server has
  const separated = new WeakSet<object>();
  Object.defineProperty(prototype, "headers", { configurable: true, get: ownHeaders });

  function ownHeaders(this: Response): Headers {
    const parts: unknown = Reflect.get(this, symbol!);
    if (Array.isArray(parts) && !separated.has(parts)) {
      separated.add(parts);
      if (parts[2] instanceof Headers) parts[2] = new Headers(parts[2]);
    }
    return get!.call(this);
  }
}

/**
 * Returns a function that checks whether a response of Node is a light one whose text is sent
 * without a failure: its head is valid, and has at most a content type.
 */
export function plainTextCheck(): (response: Response) => boolean {
  const symbol = symbolOf(new Response(""), NODE_PARTS.property);
  if (symbol === undefined) return () => false;
  return (response) => {
    const parts: unknown = Reflect.get(response, symbol);
    return NODE_PARTS.areSendable(parts) && !((parts as unknown[])[2] instanceof Headers);
  };
}

/** Returns the symbol under which a runtime keeps a part of an object. */
export function symbolOf(object: object, name: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find(({ description }) => description === name);
}

function mayHaveBody(status: unknown): boolean {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599 &&
    ![204, 205, 304].includes(Number(status));
}

/** Checks whether headers are valid, and have a content type or get the default one. */
function areChecked(headers: unknown): boolean {
  if (headers === undefined || headers instanceof Headers) return true;
  const [[name, value] = ["", ""], ...others] = Object.entries(headers ?? {});
  return others.length === 0 && name.toLowerCase() === "content-type" &&
    typeof value === "string" && /^[\x20-\x7e]+$/.test(value);
}
