/**
 * WebSockets whose messages are declared by schemas.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { WSContext, WSEvents } from "hono/ws";
import { parseJson } from "../../core/http/body_formats.ts";
import { HttpException } from "../../core/http/http_exception.ts";
import type { ValidationIssue } from "../../core/http/validation_issue.ts";
import { createSerializer, type Serializer } from "../../core/route/responder.ts";
import {
  type AnySchema,
  InputSchema,
  type SchemaInput,
  type SchemaOutput,
  type Validated,
} from "../../core/schema/validation.ts";
import { isPromiseLike } from "../../platform/ready.ts";
import { MAX_REASON_BYTES } from "./sends.ts";

/** What the messages of a WebSocket are: JSON, by schemas. */
export interface WebSocketMessages {
  /** The schema of each message that the server receives. */
  readonly receives: AnySchema;
  /** The schema of each message that the server sends, which is stripped to it. */
  readonly sends: AnySchema;
}

/** The handlers of the events of a WebSocket with declared messages; each may be asynchronous. */
export interface MessageEvents<M extends WebSocketMessages> {
  /** It is open; not called on workerd. */
  onOpen?(event: Event, socket: MessageSocket<M>): unknown;
  /** It has received a message, which its schema has accepted. */
  onMessage?(message: SchemaOutput<M["receives"]>, socket: MessageSocket<M>): unknown;
  /** It has received an invalid message, with these reasons; by default, it is closed with 1007. */
  onInvalid?(issues: readonly ValidationIssue[], socket: MessageSocket<M>): unknown;
  /** It is closed. */
  onClose?(event: CloseEvent, socket: MessageSocket<M>): unknown;
  /** It has failed. */
  onError?(event: Event, socket: MessageSocket<M>): unknown;
}

/** The handlers of the events of a WebSocket, whose messages may be declared. */
export type SocketEvents<M extends WebSocketMessages | undefined> = M extends WebSocketMessages
  ? MessageEvents<M>
  : WSEvents;

/** A WebSocket with declared messages: the same object in all of its handlers. */
export interface MessageSocket<M extends WebSocketMessages> {
  /**
   * Sends a message as JSON, checked and stripped as the response of a route is.
   *
   * @throws {TypeError} if its schema refuses it; an asynchronous schema closes the socket with
   * 1011 instead, and logs the error
   */
  send(message: SchemaInput<M["sends"]>): void;
  /**
   * Closes it (RFC 6455 §7.4), after the messages that asynchronous schemas still check.
   *
   * @throws {RangeError} if the code may not be sent, or the reason has more than 123 bytes
   */
  close(code?: number, reason?: string): void;
  /** The socket without its schemas. */
  readonly raw: WSContext;
}

/**
 * Returns the most bytes of a message that is received; default 1 MiB.
 *
 * @throws {RangeError} if it is not a positive integer
 */
export function checkedMessageLimit(bytes: number = 1024 * 1024): number {
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  const why = "it is not a positive integer";
  throw new RangeError(`Cannot receive ${bytes} bytes by a WebSocket: ${why}`);
}

/** What checks messages. */
interface Checks {
  readonly textOf: Serializer;
  readonly schema: InputSchema<AnySchema>;
}

/** The checks of the WebSockets with the same messages. */
const checks = new WeakMap<WebSocketMessages, Checks>();

function checksOf(messages: WebSocketMessages): Checks {
  const known = checks.get(messages);
  if (known) return known;
  const made = {
    textOf: createSerializer({ response: messages.sends, status: 200 }, "message"),
    schema: new InputSchema("body", messages.receives),
  };
  checks.set(messages, made);
  return made;
}

/** Returns the handlers of the events of a WebSocket with declared messages. */
export function withMessages(
  { onOpen, onMessage, onInvalid = closeInvalid, onClose, onError }: MessageEvents<
    WebSocketMessages
  >,
  { messages, maxBytes }: { readonly messages: WebSocketMessages; readonly maxBytes: number },
): WSEvents {
  const { textOf, schema } = checksOf(messages);
  const received = inOrder();
  const sent = inOrder();
  let raw: WSContext; // Bun has one for each event
  let isClosed = false;
  function inTurn<T>(result: T | Promise<T>, use: (result: T) => void): void {
    const done = sent(result, use);
    if (!isPromiseLike(done)) return;
    done.catch((error) => {
      getLogger(["fw", "runtime"]).error("A WebSocket cannot send: {error}", { error });
      raw.close(1011, "Internal error");
    });
  }
  const socket: MessageSocket<WebSocketMessages> = {
    get raw() {
      return raw;
    },
    close(code, reason) {
      inTurn(undefined, () => raw.close(code, reason));
      isClosed = true;
    },
    send: (message) =>
      inTurn(textOf(message), (text) => {
        if (text === null) throw new TypeError("Cannot send the message: it is undefined");
        raw.send(text);
      }),
  };
  function socketOf(context: WSContext): MessageSocket<WebSocketMessages> {
    raw = context;
    return socket;
  }
  return {
    ...onOpen && { onOpen: (event, raw) => onOpen(event, socketOf(raw)) },
    async onMessage({ data }, raw) {
      socketOf(raw);
      if (typeof data === "string" && data.length > maxBytes) {
        return await received(undefined, () => socket.close(1009, "The message is too large"));
      }
      await received(validated(data, { schema, maxBytes }), ({ value, refusal }) => {
        if (isClosed) return;
        return refusal ? onInvalid(refusal.issues, socket) : onMessage?.(value, socket);
      });
    },
    ...onClose && {
      onClose: (event, raw) => received(undefined, () => onClose(event, socketOf(raw))),
    },
    ...onError && { onError: (event, raw) => onError(event, socketOf(raw)) },
  };
}

function closeInvalid(
  issues: readonly ValidationIssue[],
  socket: MessageSocket<WebSocketMessages>,
): void {
  const [{ field, message } = { field: "", message: "" }] = issues;
  const reason = `Invalid message: ${field && `${field}: `}${message}`;
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES));
  socket.close(1007, reason.slice(0, read)); // whole characters
}

/** Validates a message, synchronously unless its schema is asynchronous. */
function validated(
  data: unknown,
  { schema, maxBytes }: { readonly schema: InputSchema<AnySchema>; readonly maxBytes: number },
): Validated<AnySchema> | Promise<Validated<AnySchema>> {
  if (typeof data !== "string") return refused("It is not text");
  let value: unknown;
  try {
    value = parseJson(data, maxBytes);
  } catch (error) {
    return refused(error instanceof HttpException ? error.message : "It is not JSON");
  }
  return schema.validate(value);
}

function refused(message: string): Validated<AnySchema> {
  return {
    value: undefined,
    refusal: { reason: message, issues: [{ in: "body", field: "", message }] },
  };
}

/** Passes results on in the order of the calls, although some of them are awaited. */
function inOrder() {
  let last: Promise<void> | undefined;
  return <T, R>(result: T | Promise<T>, use: (result: T) => R): R | Promise<R> => {
    if (!last && !isPromiseLike(result)) return use(result);
    const ready = Promise.all([result, last]).then(([it]) => it);
    const done = ready.then(() => {}, () => {}).then(() => {
      if (last === done) last = undefined; // later ones need not wait for a turn
    });
    last = done;
    return ready.then(use);
  };
}
