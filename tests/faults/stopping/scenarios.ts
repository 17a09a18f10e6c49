/** Stops of an application under load. */
import type { Scenario } from "../scenario.ts";
import { roll } from "./roll.ts";
import { stopStuck, stopUnderLoad } from "./stop.ts";

/** The scenarios of stopping. */
export const stopping: readonly Scenario[] = [
  { fault: "SIGTERM under load", isQuick: true, run: stopUnderLoad },
  { fault: "SIGTERM with stuck requests", isQuick: true, run: stopStuck },
  { fault: "two instances roll behind a proxy", isQuick: true, run: roll },
];
