/**
 * One request to an authorization server, and its answer.
 *
 * @module
 */
import { allowInsecureRequests, customFetch } from "oauth4webapi";
import {
  type Answer,
  boundedFetch,
  type Fetch,
  FetchFailure,
} from "../../platform/bounded_fetch.ts";
import { type GrantError, OAuth2Error } from "../ground/errors.ts";
import { type JsonObject, jsonObject } from "../../platform/json_object.ts";
import { scrub, scrubBeginning, sentSecrets, withoutSent } from "./scrub.ts";

/** How a request is sent, and what for. */
export interface ExchangeOptions {
  /** What the application wants, for messages: "refresh token". */
  readonly action: string;
  /** What sends it. */
  readonly fetch: Fetch;
  /** How long it may take in milliseconds. */
  readonly timeoutMs: number;
}

/** The options by which `oauth4webapi` sends a request through here. */
export interface ExchangeTransport {
  /** Sends the request; of the answer it gives no more than a challenge. */
  readonly [customFetch]: (url: string, init: ExchangeRequest) => Promise<Response>;
  /** Whether the endpoint has http, which {@linkcode endpointUrl} lets it have to this machine only. */
  readonly [allowInsecureRequests]: boolean;
}

/** A request as `oauth4webapi` makes it. */
export interface ExchangeRequest {
  /** Its method. */
  readonly method: string;
  /** Its headers, with names in lower case. */
  readonly headers: Record<string, string>;
  /** Its body: a form, or nothing. */
  readonly body?: unknown;
}

const MAX_BYTES = 1024 * 1024;

/**
 * One request to an authorization server, and its answer. It knows what was sent, so that the errors
 * it makes repeat none of it.
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  #sent: readonly string[] = [];
  #answer: Answer = { status: 0, headers: new Headers(), text: "" };
  #json: JsonObject | undefined;

  /** Prepares an exchange. */
  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** Gives `oauth4webapi` the way to an endpoint. */
  transport(endpoint: string): ExchangeTransport {
    return {
      [customFetch]: (url, init) => this.#send(url, init),
      [allowInsecureRequests]: new URL(endpoint).protocol === "http:",
    };
  }

  /** The status of the answer. */
  get status(): number {
    return this.#answer.status;
  }

  /** The body of the answer; `undefined` if that is no JSON object. */
  get json(): JsonObject | undefined {
    return this.#json;
  }

  /**
   * Gives the error by which the server refuses, unless it does not: an object as RFC 6749 §5.2 has it,
   * whatever its content type, with a status below 500, even 200.
   */
  refusal(): OAuth2Error | undefined {
    return this.#json && this.status < 500 ? this.refused(this.#json) : undefined;
  }

  /** Makes the error of a server that refuses with these parameters, unless they are none. */
  refused(parameters: ErrorParameters): OAuth2Error | undefined {
    const grant = readGrantError(parameters, this.#sent);
    if (!grant) return undefined;
    return new OAuth2Error(
      { code: "Grant", grant },
      this.#message(`it is refused with ${grant.error}`),
    );
  }

  /** Makes the error of an answer that no RFC foresees. */
  unforeseen(why: string = `the answer is ${this.status}`): OAuth2Error {
    const body = scrubBeginning(this.#answer.text, this.#sent);
    const failure = { code: "TokenEndpoint", status: this.status, body } as const;
    return new OAuth2Error(failure, this.#message(why));
  }

  async #send(url: string, { method, headers, body }: ExchangeRequest): Promise<Response> {
    this.#sent = sentSecrets({ headers, body });
    const init = { method, headers, body: body instanceof URLSearchParams ? body : null };
    try {
      this.#answer = await boundedFetch(new URL(url), init, {
        ...this.#options,
        maxBytes: MAX_BYTES,
      });
    } catch (error) {
      throw this.#unanswered(error);
    }
    this.#json = jsonObject(this.#answer.text);
    const challenge = this.#answer.headers.get("www-authenticate");
    return new Response(
      null,
      challenge === null ? {} : {
        headers: { "www-authenticate": challenge },
      },
    );
  }

  /** What sends may have put the request into its error: only the words of that are kept. */
  #unanswered(error: unknown): OAuth2Error {
    const { message, cause } = error instanceof FetchFailure
      ? error
      : new FetchFailure("there is none");
    const words: string[] = [];
    for (let each = cause; each instanceof Error && words.length < 5; each = each.cause) {
      words.push(scrub(each.message, this.#sent));
    }
    const options = words.length > 0 ? { cause: new Error(words.join(": ")) } : {};
    return new OAuth2Error({ code: "Transport" }, this.#message(message), options);
  }

  #message(why: string): string {
    return `Cannot ${this.#options.action}: ${why}`;
  }
}

/** What stands in an error response under the names of RFC 6749. */
export interface ErrorParameters {
  /** The code. */
  readonly error?: unknown;
  /** The server's own words. */
  readonly error_description?: unknown;
  /** A page about the error. */
  readonly error_uri?: unknown;
}

/**
 * Reads an error response (RFC 6749 §4.1.2.1 and §5.2): `undefined` if it has no sound `error`. What
 * was sent, and what looks like a token, is taken out of it; of pages, only those on the web are kept.
 */
export function readGrantError(
  { error, error_description: description, error_uri: uri }: ErrorParameters,
  sent: readonly string[] = [],
): GrantError | undefined {
  if (typeof error !== "string" || !ERROR_CODE.test(error)) return undefined;
  return {
    error: withoutSent(error, sent),
    ...(typeof description === "string" ? { description: scrubBeginning(description, sent) } : {}),
    ...(isWebPage(uri) ? { uri: scrubBeginning(uri, sent) } : {}),
  };
}

/** The grammar of RFC 6749 §5.2, with a length that no code comes near. */
const ERROR_CODE = /^[\x20-\x21\x23-\x5B\x5D-\x7E]{1,100}$/;

function isWebPage(uri: unknown): uri is string {
  return typeof uri === "string" && URL.canParse(uri) && /^https?:$/.test(new URL(uri).protocol);
}
