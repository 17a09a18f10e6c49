/** The faults by area, each a folder of scenarios. */
import { callers } from "./callers/scenarios.ts";
import { clients } from "./clients/scenarios.ts";
import { databases } from "./databases/scenarios.ts";
import { endurance } from "./endurance/scenarios.ts";
import { fuzz } from "./fuzz/scenarios.ts";
import type { Scenario } from "./scenario.ts";
import { services } from "./services/scenarios.ts";
import { stopping } from "./stopping/scenarios.ts";

/** The scenarios by area, in the order in which they run. */
export const AREAS: Readonly<Record<string, readonly Scenario[]>> = {
  databases,
  services,
  stopping,
  callers,
  clients,
  fuzz,
  endurance,
};

/** Returns the scenarios of an area by its name, or with words in their faults; all without any. */
export function scenariosOf(wanted: readonly string[]): readonly Scenario[] {
  return Object.entries(AREAS).flatMap(([area, scenarios]) =>
    scenarios.filter(({ fault }) =>
      wanted.length === 0 || wanted.some((word) => area === word || fault.includes(word))
    )
  );
}
