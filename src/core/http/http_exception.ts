/**
 * The exceptions that carry an HTTP status: thrown anywhere, they become problem documents.
 *
 * @module
 */
import { HTTPException } from "hono/http-exception";
import { errorStatusText } from "./status_text.ts";
import type { ValidationIssue } from "./validation_issue.ts";

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

  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(
    status: number,
    message: string = errorStatusText(status),
    options: HttpExceptionOptions = {},
  ) {
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
   * Converts whatever was thrown: an exception is itself; an {@linkcode HttpMappedError} (such as
   * `DbError`) and Hono's `HTTPException` become the named exception of their status; anything else
   * becomes a 500. The error is the `cause`.
   */
  static from(error: unknown): HttpException {
    if (error instanceof HttpException) return error;
    if (error instanceof HTTPException && isErrorStatus(error.status)) {
      const headers = Object.fromEntries(error.res?.headers ?? []);
      delete headers["content-length"];
      return named(error.status, error.message, { cause: error, headers });
    }
    if (isHttpMapped(error)) return named(error.httpStatus, error.message, { cause: error });
    return named(500, messageOf(error), { cause: error });
  }
}

/** 400: the request cannot be understood (RFC 9110 §15.5.1). */
export class BadRequestException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(400, message, options);
  }
}

/** 401: the request has no valid credentials (RFC 9110 §15.5.2). */
export class UnauthorizedException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(401, message, options);
  }
}

/** 403: the caller may not do this (RFC 9110 §15.5.4). */
export class ForbiddenException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(403, message, options);
  }
}

/** 404: there is no such resource (RFC 9110 §15.5.5). */
export class NotFoundException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(404, message, options);
  }
}

/** 405: the resource does not know the method; set `Allow` (RFC 9110 §15.5.6). */
export class MethodNotAllowedException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(405, message, options);
  }
}

/** 406: no representation suits the client (RFC 9110 §15.5.7). */
export class NotAcceptableException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(406, message, options);
  }
}

/** 408: the request took too long to arrive (RFC 9110 §15.5.9). */
export class RequestTimeoutException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(408, message, options);
  }
}

/** 409: the request conflicts with the state of the resource (RFC 9110 §15.5.10). */
export class ConflictException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(409, message, options);
  }
}

/** 410: the resource is gone for good (RFC 9110 §15.5.11). */
export class GoneException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(410, message, options);
  }
}

/** 412: a precondition of the request does not hold (RFC 9110 §15.5.13). */
export class PreconditionFailedException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(412, message, options);
  }
}

/** 413: the body is larger than the limit (RFC 9110 §15.5.14). */
export class PayloadTooLargeException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(413, message, options);
  }
}

/** 415: the body is in a format the route does not read (RFC 9110 §15.5.16). */
export class UnsupportedMediaTypeException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(415, message, options);
  }
}

/** 422: the input does not satisfy its schema (RFC 9110 §15.5.21). */
export class UnprocessableEntityException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(422, message, options);
  }
}

/** 429: the client sent too many requests (RFC 6585 §4). */
export class TooManyRequestsException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(429, message, options);
  }
}

/** 500: something unexpected happened (RFC 9110 §15.6.1). */
export class InternalServerErrorException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(500, message, options);
  }
}

/** 501: the server does not support this (RFC 9110 §15.6.2). */
export class NotImplementedException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(501, message, options);
  }
}

/** 502: an upstream server answered wrongly (RFC 9110 §15.6.3). */
export class BadGatewayException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(502, message, options);
  }
}

/** 503: the server cannot answer now (RFC 9110 §15.6.4). */
export class ServiceUnavailableException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(503, message, options);
  }
}

/** 504: an upstream server did not answer in time (RFC 9110 §15.6.5). */
export class GatewayTimeoutException extends HttpException {
  /** Creates one; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(504, message, options);
  }
}

/** Gives what was thrown if it is an error, else an exception (500) that tells of it. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : HttpException.from(thrown);
}

/** The named exception of each status that has one. */
const NAMED: Readonly<
  Record<number, new (message: string, options: HttpExceptionOptions) => HttpException>
> = {
  400: BadRequestException,
  401: UnauthorizedException,
  403: ForbiddenException,
  404: NotFoundException,
  405: MethodNotAllowedException,
  406: NotAcceptableException,
  408: RequestTimeoutException,
  409: ConflictException,
  410: GoneException,
  412: PreconditionFailedException,
  413: PayloadTooLargeException,
  415: UnsupportedMediaTypeException,
  422: UnprocessableEntityException,
  429: TooManyRequestsException,
  500: InternalServerErrorException,
  501: NotImplementedException,
  502: BadGatewayException,
  503: ServiceUnavailableException,
  504: GatewayTimeoutException,
};

function named(status: number, message: string, options: HttpExceptionOptions): HttpException {
  const Named = NAMED[status];
  return Named ? new Named(message, options) : new HttpException(status, message, options);
}

/** Gives the message of whatever was thrown, which may be made to have none. */
function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "Something was thrown that cannot be told";
  }
}

function isErrorStatus(status: unknown): status is number {
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599;
}

function isHttpMapped(error: unknown): error is HttpMappedError {
  return error instanceof Error && "httpStatus" in error && isErrorStatus(error.httpStatus);
}
