/**
 * The exception that carries an HTTP status: thrown anywhere, it becomes a problem document.
 *
 * @module
 */
import { HTTPException } from "hono/http-exception";

/** Where in a request a refused value was found. */
export type InputPart = "path" | "query" | "header" | "body";

/** One reason a request was refused. It never carries the submitted value. */
export interface ValidationIssue {
  /** The part of the request. */
  readonly in: InputPart;
  /** The path to the value, its keys joined with dots (`"items.0.name"`); empty for the whole part. */
  readonly field: string;
  /** What the schema says of it. */
  readonly message: string;
}

/** What an {@linkcode HttpException} may carry beside its status and message. */
export interface HttpExceptionOptions {
  /** The error behind this one; it is logged and never sent. */
  readonly cause?: unknown;
  /** Headers of the response, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reasons, one for each refused value. */
  readonly errors?: readonly ValidationIssue[];
}

/**
 * An error of another layer that knows its HTTP status. Its message must be fit for a client.
 * {@linkcode HttpException.from} honours it.
 */
export interface HttpMappedError extends Error {
  /** The status it becomes, 400 to 599. */
  readonly httpStatus: number;
}

/**
 * An error with an HTTP status. The message becomes the `detail` of an RFC 9457 problem document,
 * so it must hold nothing that the client may not read.
 *
 * @example
 * ```ts
 * import { HttpException } from "@fw/fw";
 *
 * const teapot = new HttpException(418, "Short and stout");
 * ```
 *
 * @throws {RangeError} if the status is not an integer from 400 to 599
 */
export class HttpException extends Error {
  /** The name of the class it was created with. */
  override readonly name: string;
  /** The status of the response, 400 to 599. */
  readonly status: number;
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The reasons, one for each refused value. */
  readonly errors: readonly ValidationIssue[] | undefined;

  /** Creates one; the client reads the message. */
  constructor(status: number, message = "", options: HttpExceptionOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    if (!isErrorStatus(status)) {
      throw new RangeError(`Cannot create HttpException: status ${status} is not 400 to 599`);
    }
    this.name = new.target.name;
    this.status = status;
    this.headers = options.headers ?? {};
    this.errors = options.errors;
  }

  /** Throws a new exception of the class it is called on, as an expression: `row ?? NotFoundException.throw()`. */
  static throw<Args extends unknown[]>(
    this: new (...args: Args) => HttpException,
    ...args: Args
  ): never {
    throw new this(...args);
  }

  /**
   * Converts whatever was thrown: an exception is itself, an {@linkcode HttpMappedError} (such as
   * `DbError`) and Hono's `HTTPException` keep their status, anything else becomes a 500 with the
   * error as its `cause`.
   */
  static from(error: unknown): HttpException {
    if (error instanceof HttpException) return error;
    if (error instanceof HTTPException && isErrorStatus(error.status)) {
      const headers = Object.fromEntries(error.res?.headers ?? []);
      delete headers["content-type"];
      delete headers["content-length"];
      return new HttpException(error.status, error.message, { cause: error, headers });
    }
    if (isHttpMapped(error)) {
      return new HttpException(error.httpStatus, error.message, { cause: error });
    }
    return new HttpException(500, messageOf(error), { cause: error });
  }
}

/** Gives the message of whatever was thrown, which may be made to have none. */
function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "Something was thrown that cannot be told";
  }
}

/** Gives what was thrown if it is an error, else an exception (500) that tells of it. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : HttpException.from(thrown);
}

function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;
}

function isHttpMapped(error: unknown): error is HttpMappedError {
  return error instanceof Error && "httpStatus" in error && isErrorStatus(error.httpStatus);
}
