/**
 * The signals by which a user or a supervisor ends a command.
 *
 * @module
 */

/** The signals by which a user or a supervisor ends a command. */
export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
