/**
 * What can be generated.
 *
 * @module
 */
import type { Generation } from "./generation.ts";

/** Something that can be generated. */
export interface Kind {
  /** What it is called. */
  readonly name: string;
  /** Shorter names, as NestJS has them. */
  readonly aliases: readonly string[];
  /** What it is, for the help. */
  readonly about: string;
  /** A name of one, for the help. */
  readonly example: string;
  /** Whether it may be told which folder to generate in; default true. */
  readonly hasFolder?: boolean;
  /** Plans its files. */
  readonly generate: (generation: Generation) => void | Promise<void>;
}
