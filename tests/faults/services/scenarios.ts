/** The faults of the services that an application depends on, beside its database. */
import type { Scenario } from "../scenario.ts";
import { providerScenarios } from "./provider.ts";
import { redisScenarios } from "./redis.ts";

/** The scenarios of services. */
export const services: readonly Scenario[] = [...redisScenarios, ...providerScenarios];
