/**
 * Kinds of code that can be generated.
 *
 * @module
 */
import { posix } from "node:path";
import type { ModuleList } from "../edit/source_file.ts";
import type { EntityName } from "../project/entity_name.ts";
import type { FilePlan } from "../system/file_plan.ts";
import { CliError } from "../terminal/cli_error.ts";
import { listInModule } from "./edit_project.ts";
import type { Generation, Target } from "./target.ts";

/** Something that can be generated. */
export interface Kind {
  /** The name. */
  readonly name: string;
  /** Short names, as in NestJS. */
  readonly aliases: readonly string[];
  /** A description for the help. */
  readonly about: string;
  /** An example of a name, for the help. */
  readonly example: string;
  /** Whether it has options for the folder; default true. */
  readonly hasFolder?: boolean;
  /** Whether it has the fields of a model; default false. */
  readonly hasFields?: boolean;
  /** The field that it has without others, for which a terminal is asked; default none. */
  readonly defaultField?: string;
  /** Whether its rows can belong to tenants; default false. */
  readonly hasTenant?: boolean;
  /** Whether it has the fields of a payload, and retries; default false. */
  readonly hasPayload?: boolean;
  /** Plans its files. */
  readonly generate: (generation: Generation) => void | Promise<void>;
  /**
   * Returns the name of the migration that is written by difference afterwards, `undefined` without
   * one; default none.
   */
  readonly migration?: (generation: Generation) => string | undefined;
}

/** Code and its test. */
export interface CodeAndTest {
  /** The text of the code. */
  readonly code: string;
  /** The text of its test. */
  readonly test: string;
}

/** A kind of a file of code with its test, optionally listed in a module. */
export interface CodeKind extends Omit<Kind, "generate"> {
  /** Returns the code and the test. */
  readonly template: (name: EntityName, target: Target) => CodeAndTest;
  /** Returns how to use it, if no module lists it. */
  readonly use?: (name: EntityName) => string;
  /** The list of the nearest module; default none. */
  readonly list?: ModuleList;
  /** The name that its code imports, and cannot export; default none. */
  readonly imports?: string;
}

/** Creates a kind from a template: `cats_service.ts` exports `CatsService`. */
export function codeKind({ template, use, list, imports, ...kind }: CodeKind): Kind {
  return {
    ...kind,
    async generate(generation) {
      const { plan, target } = generation;
      const name = `${target.name.pascal}${kind.name.charAt(0).toUpperCase()}${kind.name.slice(1)}`;
      if (name === imports) {
        const shown = JSON.stringify(target.name.kebab);
        throw new CliError(`Cannot use the name ${shown}: generated code uses another ${name}`);
      }
      const file = posix.join(target.folder, `${target.name.snake}_${kind.name}.ts`);
      planCode(plan, file, template(target.name, target));
      if (use) plan.note(`To use it, add ${use(target.name)}`);
      if (list === undefined) return;
      // a module is listed in the one above it
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
