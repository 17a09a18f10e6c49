/**
 * Kinds of code that can be generated.
 *
 * @module
 */
import { posix } from "node:path";
import type { ModuleList } from "../edit/source_file.ts";
import type { EntityName } from "../project/entity_name.ts";
import type { FilePlan } from "../system/file_plan.ts";
import { listInModule } from "./edit_project.ts";
import type { Generation, Target } from "./target.ts";

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

/** Two files: code, and its test. */
export interface CodeAndTest {
  /** The text of the code. */
  readonly code: string;
  /** The text of its test. */
  readonly test: string;
}

/** A kind that is a file of code with its test, perhaps listed in a module. */
export interface CodeKind extends Omit<Kind, "generate"> {
  /** Writes the code and the test. */
  readonly template: (name: EntityName, target: Target) => CodeAndTest;
  /** Says how it is put to use, where no module lists it. */
  readonly use?: (name: EntityName) => string;
  /** The list of the nearest module that names it; default none. */
  readonly list?: ModuleList;
}

/** Makes a kind of a template: `cats_service.ts` exports `CatsService`. */
export function codeKind({ template, use, list, ...kind }: CodeKind): Kind {
  return {
    ...kind,
    async generate(generation) {
      const { plan, target } = generation;
      const file = posix.join(target.folder, `${target.name.snake}_${kind.name}.ts`);
      planCode(plan, file, template(target.name, target));
      if (use) plan.note(`Put it to use by ${use(target.name)}`);
      if (list === undefined) return;
      const name = `${target.name.pascal}${kind.name.charAt(0).toUpperCase()}${kind.name.slice(1)}`;
      // a module is listed in the one above it, not in itself
      const folder = list === "imports" ? target.base : posix.dirname(file);
      await listInModule(generation, { list, name, file, folder });
    },
  };
}

/** Plans a file of code, and its test beside it. */
export function planCode(plan: FilePlan, file: string, { code, test }: CodeAndTest): void {
  plan.create(file, code);
  plan.create(file.replace(/\.ts$/, "_test.ts"), test);
}
