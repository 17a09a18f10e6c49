/**
 * Responses whose parts the runtime still keeps, which it sends faster than a whole `Response`.
 *
 * @module
 */

/** The light responses of a runtime. */
export interface LightResponses {
  /** Checks whether the runtime still keeps the parts of a response. */
  hasParts(response: Response): boolean;
  /** Checks whether a response is valid text that nothing has read or changed. */
  isSendable(response: Response): boolean;
  /** Checks whether a response has a body, without creating a stream of it. */
  hasBody(response: Response): boolean;
}

let light: LightResponses | undefined;

/** Sets the light responses of the runtime. */
export function setLightResponses(responses: LightResponses): void {
  light = responses;
}

/** Returns the light responses of the runtime, or `undefined` where it has none. */
export function lightResponses(): LightResponses | undefined {
  return light;
}
