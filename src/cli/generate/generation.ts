/**
 * What a kind is generated with.
 *
 * @module
 */
import type { FilePlan } from "../file_plan.ts";
import type { Project } from "../project.ts";
import type { Target } from "./target.ts";

/** What a kind is generated with. */
export interface Generation {
  /** The files that are to be written. */
  readonly plan: FilePlan;
  /** The project that they are for. */
  readonly project: Project;
  /** What is to be generated. */
  readonly target: Target;
}
