/** The faults of database servers and files. */
import type { Scenario } from "../scenario.ts";
import { serverScenarios } from "./servers.ts";
import { sqlite } from "./sqlite.ts";

/** The scenarios of databases. */
export const databases: readonly Scenario[] = [
  ...serverScenarios("postgres", { quick: ["connections killed", "killed and started"] }),
  ...serverScenarios("mysql", { quick: ["frozen", "disk full"] }),
  ...sqlite,
];
