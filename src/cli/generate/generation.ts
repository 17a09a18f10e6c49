/**
 * What a kind is generated with.
 *
 * @module
 */
import type { FilePlan } from "../system/file_plan.ts";
import type { Project } from "../project/project.ts";
import type { Target } from "./target.ts";

/** One thing that is to be generated. */
export interface Generation {
  /** The files that are to be written. */
  readonly plan: FilePlan;
  /** The project that they are for. */
  readonly project: Project;
  /** Its name, and where it is to be. */
  readonly target: Target;
}
