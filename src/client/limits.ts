/**
 * The limits of calls.
 *
 * @module
 */

/** The most characters of an answer that is read as a whole, an event, and messages that wait. */
export const MAX_LENGTH: number = 16 * 1024 * 1024;

/** The default time limit of an attempt, in milliseconds. */
export const TIMEOUT_MS = 30_000;

/** The longest delay of a timer, in milliseconds. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;
