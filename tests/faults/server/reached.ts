/** How handlers say that they were reached. */

/** The response header that names the handler that was reached. */
export const REACHED = "x-reached";
