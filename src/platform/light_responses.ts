/**
 * Responses that cost less as long as they are sent as they were made; only the server for Node has
 * them.
 *
 * @module
 */

/** What the server knows of such responses. */
export interface LightResponses {
  /**
   * Checks whether a response can be sent as it was made: of a text, with headers that were
   * checked, unread, and for the first time.
   */
  sendsAsMade(response: Response): boolean;
  /** Checks whether a response was sent as it was made. */
  wasSent(response: Response): boolean;
}

let light: LightResponses | undefined;

/** Sets what the server knows. */
export function setLightResponses(responses: LightResponses): void {
  light = responses;
}

/** Returns what the server knows, if it has such responses. */
export function lightResponses(): LightResponses | undefined {
  return light;
}
