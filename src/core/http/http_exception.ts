/**
 * Exceptions with an HTTP status: thrown anywhere, they become problem documents.
 *
 * @module
 */
import { HTTPException } from "hono/http-exception";
import { errorStatusText } from "./status_text.ts";
import type { ValidationIssue } from "./validation_issue.ts";

/** Options of an {@linkcode HttpException}. */
export interface HttpExceptionOptions {
  /** The error behind this one; it is logged and never sent. */
  readonly cause?: unknown;
  /** Headers of the response, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The reasons, one for each invalid value. */
  readonly errors?: readonly ValidationIssue[];
}

/**
 * An error of another layer that knows its HTTP status. Clients can read its message if the status
 * is below 500. {@linkcode HttpException.from} converts it.
 */
export interface HttpMappedError extends Error {
  /** The status of the response, 400 to 599. */
  readonly httpStatus: number;
  /**
   * Why it failed. `"Conflict"` of status 409: what was to be changed has another version than the
   * caller named; a route with `etag` answers 412.
   */
  readonly code?: string;
}

/**
 * An error with an HTTP status. The message becomes the `detail` of an RFC 9457 problem document,
 * so it must contain nothing that the client must not read.
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
  /** The reasons, one for each invalid value. */
  readonly errors: readonly ValidationIssue[] | undefined;

  /** Creates an exception; the client reads the message, by default the name of the status. */
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

  /** Throws a new exception of this class, as an expression: `row ?? NotFoundException.throw()`. */
  static throw<Args extends unknown[]>(
    this: new (...args: Args) => HttpException,
    ...args: Args
  ): never {
    throw new this(...args);
  }

  /**
   * Converts any thrown value: an exception is returned as it is; an {@linkcode HttpMappedError}
   * (such as `DbError`) and Hono's `HTTPException` become the named exception of their status;
   * anything else becomes a 500 without its message. The original error is the `cause`.
   */
  static from(error: unknown): HttpException {
    if (error instanceof HttpException) return error;
    if (error instanceof HTTPException && isErrorStatus(error.status)) {
      const headers = Object.fromEntries(error.res?.headers ?? []);
      delete headers["content-length"];
      return named(error.status, error.message, { cause: error, headers });
    }
    if (isHttpMapped(error)) return named(error.httpStatus, error.message, { cause: error });
    return new UnexpectedException(undefined, { cause: error });
  }
}

/**
 * The base of the exceptions that are named after their status. A subclass states its status once.
 *
 * @example
 * ```ts
 * import { StatusException } from "@fw/fw";
 *
 * class LockedException extends StatusException {
 *   static override readonly status: number = 423;
 * }
 * ```
 */
export abstract class StatusException extends HttpException {
  /** The status of every exception of the class, 400 to 599. */
  static readonly status: number;

  /** Creates an exception; the client reads the message, by default the name of the status. */
  constructor(message?: string, options?: HttpExceptionOptions) {
    super(new.target.status, message, options);
  }
}

/** 400: the request cannot be understood (RFC 9110 §15.5.1). */
export class BadRequestException extends StatusException {
  /** 400 Bad Request. */
  static override readonly status = 400;
}

/** 401: the request has no valid credentials (RFC 9110 §15.5.2). */
export class UnauthorizedException extends StatusException {
  /** 401 Unauthorized. */
  static override readonly status = 401;
}

/** 403: the caller has no permission (RFC 9110 §15.5.4). */
export class ForbiddenException extends StatusException {
  /** 403 Forbidden. */
  static override readonly status = 403;
}

/** 404: the resource does not exist (RFC 9110 §15.5.5). */
export class NotFoundException extends StatusException {
  /** 404 Not Found. */
  static override readonly status = 404;
}

/** 405: the resource does not support the method; set `Allow` (RFC 9110 §15.5.6). */
export class MethodNotAllowedException extends StatusException {
  /** 405 Method Not Allowed. */
  static override readonly status = 405;
}

/** 406: no representation is acceptable to the client (RFC 9110 §15.5.7). */
export class NotAcceptableException extends StatusException {
  /** 406 Not Acceptable. */
  static override readonly status = 406;
}

/** 408: the request took too long to arrive (RFC 9110 §15.5.9). */
export class RequestTimeoutException extends StatusException {
  /** 408 Request Timeout. */
  static override readonly status = 408;
}

/** 409: the request conflicts with the state of the resource (RFC 9110 §15.5.10). */
export class ConflictException extends StatusException {
  /** 409 Conflict. */
  static override readonly status = 409;
}

/** 410: the resource was removed permanently (RFC 9110 §15.5.11). */
export class GoneException extends StatusException {
  /** 410 Gone. */
  static override readonly status = 410;
}

/** 412: a precondition of the request failed (RFC 9110 §15.5.13). */
export class PreconditionFailedException extends StatusException {
  /** 412 Precondition Failed. */
  static override readonly status = 412;
}

/** 413: the body is larger than the limit (RFC 9110 §15.5.14). */
export class PayloadTooLargeException extends StatusException {
  /** 413 Content Too Large. */
  static override readonly status = 413;
}

/** 415: the route does not support the format of the body (RFC 9110 §15.5.16). */
export class UnsupportedMediaTypeException extends StatusException {
  /** 415 Unsupported Media Type. */
  static override readonly status = 415;
}

/** 422: the input does not satisfy its schema (RFC 9110 §15.5.21). */
export class UnprocessableEntityException extends StatusException {
  /** 422 Unprocessable Content. */
  static override readonly status = 422;
}

/** 429: the client sent too many requests (RFC 6585 §4). */
export class TooManyRequestsException extends StatusException {
  /** 429 Too Many Requests. */
  static override readonly status = 429;
}

/** 500: something unexpected happened (RFC 9110 §15.6.1). */
export class InternalServerErrorException extends StatusException {
  /** 500 Internal Server Error. */
  static override readonly status = 500;
}

/** A thrown value that is not an exception: its message was not written for clients. */
export class UnexpectedException extends InternalServerErrorException {
  /** The name of the exception of its status. */
  override readonly name: string = "InternalServerErrorException";
}

/** 501: the server does not support this (RFC 9110 §15.6.2). */
export class NotImplementedException extends StatusException {
  /** 501 Not Implemented. */
  static override readonly status = 501;
}

/** 502: an upstream server sent an invalid response (RFC 9110 §15.6.3). */
export class BadGatewayException extends StatusException {
  /** 502 Bad Gateway. */
  static override readonly status = 502;
}

/** 503: the server is temporarily unavailable (RFC 9110 §15.6.4). */
export class ServiceUnavailableException extends StatusException {
  /** 503 Service Unavailable. */
  static override readonly status = 503;
}

/** 504: an upstream server did not respond in time (RFC 9110 §15.6.5). */
export class GatewayTimeoutException extends StatusException {
  /** 504 Gateway Timeout. */
  static override readonly status = 504;
}

/** Returns a thrown error as it is, and any other thrown value as an exception (500). */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : HttpException.from(thrown);
}

/** Checks whether an error is an {@linkcode HttpMappedError}. */
export function isHttpMapped(error: unknown): error is HttpMappedError {
  return error instanceof Error && "httpStatus" in error && isErrorStatus(error.httpStatus);
}

/** Returns the message of an error; that of its cause, of any type, if the error is unexpected. */
export function messageOf(error: Error): string {
  if (!(error instanceof UnexpectedException)) return error.message;
  const { cause } = error;
  try {
    return String(cause instanceof Error ? cause.message : cause);
  } catch {
    return "The thrown value cannot be converted to a string";
  }
}

type NamedException = new (message: string, options: HttpExceptionOptions) => HttpException;

/** The named exceptions by their status. */
const NAMED: ReadonlyMap<number, NamedException> = new Map([
  BadRequestException,
  UnauthorizedException,
  ForbiddenException,
  NotFoundException,
  MethodNotAllowedException,
  NotAcceptableException,
  RequestTimeoutException,
  ConflictException,
  GoneException,
  PreconditionFailedException,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
  UnprocessableEntityException,
  TooManyRequestsException,
  InternalServerErrorException,
  NotImplementedException,
  BadGatewayException,
  ServiceUnavailableException,
  GatewayTimeoutException,
].map((Named) => [Named.status, Named]));

function named(status: number, message: string, options: HttpExceptionOptions): HttpException {
  const Named = NAMED.get(status);
  return Named ? new Named(message, options) : new HttpException(status, message, options);
}

function isErrorStatus(status: unknown): status is number {
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599;
}
