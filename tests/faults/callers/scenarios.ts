/** Who sees what. */
import type { Scenario } from "../scenario.ts";
import { isolation } from "./isolation.ts";
import { matrix } from "./matrix.ts";

/** The scenarios of callers. */
export const callers: readonly Scenario[] = [
  { fault: "the authorisation matrix", isQuick: true, run: matrix },
  { fault: "1 000 identities interleaved", isQuick: true, run: isolation },
];
