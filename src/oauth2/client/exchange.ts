/**
 * A request to an authorization server, and its answer.
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

/** Options of an {@linkcode Exchange}. */
export interface ExchangeOptions {
  /** The operation, for messages: `refresh token`. */
  readonly action: string;
  /** Sends the request. */
  readonly fetch: Fetch;
  /** The time limit in milliseconds. */
  readonly timeoutMs: number;
}

/** The options with which `oauth4webapi` sends a request through an {@linkcode Exchange}. */
export interface ExchangeTransport {
  /** Sends the request; the response contains only the challenge of the answer. */
  readonly [customFetch]: (url: string, init: ExchangeRequest) => Promise<Response>;
  /** Whether the endpoint uses http, which {@linkcode endpointUrl} allows on this machine only. */
  readonly [allowInsecureRequests]: boolean;
}

/** A request of `oauth4webapi`. */
export interface ExchangeRequest {
  /** The method. */
  readonly method: string;
  /** The headers, with names in lower case. */
  readonly headers: Record<string, string>;
  /** The body: a form, if there is one. */
  readonly body?: unknown;
}

const MAX_BYTES = 1024 * 1024;

/**
 * A request to an authorization server, and its answer. Its errors do not repeat any secret
 * that was sent.
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  #sent: readonly string[] = [];
  #answer: Answer = { status: 0, headers: new Headers(), text: "" };
  #json: JsonObject | undefined;

  /** Creates an exchange. */
  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** Returns the options with which `oauth4webapi` sends the request to an endpoint. */
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

  /** The body of the answer; `undefined` if it is not a JSON object. */
  get json(): JsonObject | undefined {
    return this.#json;
  }

  /**
   * Returns the error if the answer is an error response: an object as in RFC 6749 §5.2 of any
   * content type, with a status below 500, even 200.
   */
  refusal(): OAuth2Error | undefined {
    return this.#json && this.status < 500 ? this.refused(this.#json) : undefined;
  }

  /** Returns the error for the parameters of an error response; `undefined` if they are invalid. */
  refused(parameters: ErrorParameters): OAuth2Error | undefined {
    const grant = readGrantError(parameters, this.#sent);
    if (!grant) return undefined;
    return new OAuth2Error(
      { code: "Grant", grant },
      this.#message(`the server refused with ${grant.error}`),
    );
  }

  /** Returns the error for an answer that no RFC specifies. */
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

  /**
   * Returns the error for a missing answer, with the messages only of its causes: they may
   * contain the request.
   */
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

/** The parameters of an error response of RFC 6749. */
export interface ErrorParameters {
  /** The error code. */
  readonly error?: unknown;
  /** A description. */
  readonly error_description?: unknown;
  /** A page about the error. */
  readonly error_uri?: unknown;
}

/**
 * Reads an error response (RFC 6749 §4.1.2.1 and §5.2): `undefined` if its `error` is invalid.
 * Values that were sent and words that look like tokens are removed; a URI must be http or https.
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

/** The grammar of RFC 6749 §5.2, with a limit to its length. */
const ERROR_CODE = /^[\x20-\x21\x23-\x5B\x5D-\x7E]{1,100}$/;

function isWebPage(uri: unknown): uri is string {
  return typeof uri === "string" && /^https?:$/.test(URL.parse(uri)?.protocol ?? "");
}
