/**
 * The options of WebSockets.
 *
 * @module
 */
import type { WebSocketMessages } from "./messages.ts";

/** Options of `upgradeWebSocket()`. */
export interface WebSocketOptions<
  M extends WebSocketMessages | undefined = WebSocketMessages | undefined,
> {
  /**
   * The schemas of its messages, which are JSON then: those of the client are validated, those of
   * the server checked and stripped. Declare them in `openapi.responses[101]` of the route too, for
   * a typed client. Default: messages are text and bytes.
   */
  readonly messages?: M | undefined;
  /**
   * How many bytes a message of the client may have if there are `messages`, a positive integer;
   * default 1 MiB. A longer one closes the socket with 1009. A character counts as one. Like a
   * body, it nests 512 deep at most, and has at most a value for 50 bytes of this limit. Deno
   * receives a message of several frames whole before it is checked, without a limit.
   */
  readonly maxMessageBytes?: number | undefined;
  /**
   * How many bytes a socket may buffer for a client that does not read, from 0 to 16 MiB; default
   * 4 MiB. A send that finds more closes the socket with 1013. One message may be larger. workerd
   * ignores it.
   */
  readonly maxBufferedBytes?: number | undefined;
  /**
   * How many messages of a client may wait for `onMessage` at once, a positive integer; default
   * 1000. One more closes the socket with 1008; on Deno, a client that goes on sending may see its
   * connection lost instead.
   */
  readonly maxPendingMessages?: number | undefined;
  /**
   * How many bytes of messages may wait so, a positive integer; default 16 MiB. One that exceeds
   * them closes the socket with 1008, unless it is the only one. A character of text counts as one.
   */
  readonly maxPendingBytes?: number | undefined;
}
