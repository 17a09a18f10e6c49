/**
 * A named exception for each common error status.
 *
 * @module
 */
import { HttpException, type HttpExceptionOptions } from "./http_exception.ts";

/** 400: the request cannot be understood (RFC 9110 §15.5.1). */
export class BadRequestException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Bad Request", options: HttpExceptionOptions = {}) {
    super(400, message, options);
  }
}

/** 401: the request has no valid credentials (RFC 9110 §15.5.2). */
export class UnauthorizedException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Unauthorized", options: HttpExceptionOptions = {}) {
    super(401, message, options);
  }
}

/** 403: the caller may not do this (RFC 9110 §15.5.4). */
export class ForbiddenException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Forbidden", options: HttpExceptionOptions = {}) {
    super(403, message, options);
  }
}

/** 404: there is no such resource (RFC 9110 §15.5.5). */
export class NotFoundException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Not Found", options: HttpExceptionOptions = {}) {
    super(404, message, options);
  }
}

/** 405: the resource does not know the method; set `Allow` (RFC 9110 §15.5.6). */
export class MethodNotAllowedException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Method Not Allowed", options: HttpExceptionOptions = {}) {
    super(405, message, options);
  }
}

/** 406: no representation suits the client (RFC 9110 §15.5.7). */
export class NotAcceptableException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Not Acceptable", options: HttpExceptionOptions = {}) {
    super(406, message, options);
  }
}

/** 408: the request took too long to arrive (RFC 9110 §15.5.9). */
export class RequestTimeoutException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Request Timeout", options: HttpExceptionOptions = {}) {
    super(408, message, options);
  }
}

/** 409: the request conflicts with the state of the resource (RFC 9110 §15.5.10). */
export class ConflictException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Conflict", options: HttpExceptionOptions = {}) {
    super(409, message, options);
  }
}

/** 410: the resource is gone for good (RFC 9110 §15.5.11). */
export class GoneException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Gone", options: HttpExceptionOptions = {}) {
    super(410, message, options);
  }
}

/** 412: a precondition of the request does not hold (RFC 9110 §15.5.13). */
export class PreconditionFailedException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Precondition Failed", options: HttpExceptionOptions = {}) {
    super(412, message, options);
  }
}

/** 413: the body is larger than the limit (RFC 9110 §15.5.14). */
export class PayloadTooLargeException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Payload Too Large", options: HttpExceptionOptions = {}) {
    super(413, message, options);
  }
}

/** 415: the body is in a format the route does not read (RFC 9110 §15.5.16). */
export class UnsupportedMediaTypeException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Unsupported Media Type", options: HttpExceptionOptions = {}) {
    super(415, message, options);
  }
}

/** 422: the input does not satisfy its schema (RFC 9110 §15.5.21). */
export class UnprocessableEntityException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Unprocessable Entity", options: HttpExceptionOptions = {}) {
    super(422, message, options);
  }
}

/** 429: the client sent too many requests (RFC 6585 §4). */
export class TooManyRequestsException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Too Many Requests", options: HttpExceptionOptions = {}) {
    super(429, message, options);
  }
}

/** 500: something unexpected happened (RFC 9110 §15.6.1). */
export class InternalServerErrorException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Internal Server Error", options: HttpExceptionOptions = {}) {
    super(500, message, options);
  }
}

/** 501: the server does not support this (RFC 9110 §15.6.2). */
export class NotImplementedException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Not Implemented", options: HttpExceptionOptions = {}) {
    super(501, message, options);
  }
}

/** 502: an upstream server answered wrongly (RFC 9110 §15.6.3). */
export class BadGatewayException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Bad Gateway", options: HttpExceptionOptions = {}) {
    super(502, message, options);
  }
}

/** 503: the server cannot answer now (RFC 9110 §15.6.4). */
export class ServiceUnavailableException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Service Unavailable", options: HttpExceptionOptions = {}) {
    super(503, message, options);
  }
}

/** 504: an upstream server did not answer in time (RFC 9110 §15.6.5). */
export class GatewayTimeoutException extends HttpException {
  /** Creates one; the client reads the message. */
  constructor(message = "Gateway Timeout", options: HttpExceptionOptions = {}) {
    super(504, message, options);
  }
}
