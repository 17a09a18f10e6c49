/** What the application of hostile clients and their scenarios agree on. */

/** The requests that `GET /input/limited` allows a client in a window. */
export const REQUESTS_OF_A_CLIENT = 50;

/** What `GET /report` responds. */
export interface Report {
  /** The protected handlers, and what a request was smuggled to. */
  readonly reached: readonly string[];
  /** Whether input has changed a prototype. */
  readonly isPolluted: boolean;
}
