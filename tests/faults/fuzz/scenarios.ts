/** Random requests and random tokens. */
import type { Scenario } from "../scenario.ts";
import { bearers } from "./bearers.ts";
import { documents } from "./documents.ts";

/** The scenarios of fuzz. */
export const fuzz: readonly Scenario[] = [
  { fault: "requests made from documents", isQuick: true, run: documents },
  { fault: "bearer headers", isQuick: true, run: bearers },
];
