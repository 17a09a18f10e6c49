/**
 * What can be generated.
 *
 * @module
 */
import { posix } from "node:path";
import type { EntityName } from "../entity_name.ts";
import type { FilePlan } from "../file_plan.ts";
import {
  type CodeAndTest,
  controllerTemplate,
  moduleTemplate,
  serviceTemplate,
} from "../templates/kinds/building_blocks.ts";
import { emptyScripts } from "../templates/kinds/model.ts";
import { filterTemplate, guardTemplate, interceptorTemplate } from "../templates/kinds/pipeline.ts";
import { dtoTemplate, pipeTemplate } from "../templates/kinds/schemas.ts";
import type { Generation } from "./generation.ts";
import { generateModel } from "./model.ts";
import { listInModule } from "./parent_module.ts";
import { addMigration, ensureDatabase } from "./project_database.ts";
import { generateResource } from "./resource.ts";
import { folderOf, type Target } from "./target.ts";

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
  /** Whether it may be told which folder to generate in. */
  readonly hasFolder: boolean;
  /** Plans its files. */
  generate(generation: Generation): void | Promise<void>;
}

/** All that can be generated. */
export const KINDS: readonly Kind[] = [
  {
    name: "resource",
    aliases: ["res"],
    about: "a whole CRUD: module, controller, service, DTOs, model, migration and tests",
    example: "product",
    hasFolder: true,
    generate: generateResource,
  },
  {
    name: "module",
    aliases: ["mo"],
    about: "a module, imported by the one above it",
    example: "billing",
    hasFolder: true,
    async generate({ plan, project, target }) {
      const file = addCode(plan, target, "module", moduleTemplate);
      const name = `${target.name.pascal}Module`;
      await listInModule(plan, project, { list: "imports", name, file, folder: target.base });
    },
  },
  {
    name: "controller",
    aliases: ["co"],
    about: "a controller with a route, listed in the nearest module",
    example: "invoices",
    hasFolder: true,
    async generate({ plan, project, target }) {
      const file = addCode(plan, target, "controller", controllerTemplate);
      const name = `${target.name.pascal}Controller`;
      await listInModule(plan, project, { list: "controllers", name, file });
    },
  },
  {
    name: "service",
    aliases: ["s"],
    about: "a service, listed in the nearest module",
    example: "mail",
    hasFolder: true,
    async generate({ plan, project, target }) {
      const file = addCode(plan, target, "service", serviceTemplate);
      const name = `${target.name.pascal}Service`;
      await listInModule(plan, project, { list: "providers", name, file });
    },
  },
  simpleKind(guardTemplate, {
    name: "guard",
    aliases: ["gu"],
    about: "a guard: lets a request in or refuses it",
    example: "admin",
  }),
  simpleKind(interceptorTemplate, {
    name: "interceptor",
    aliases: ["itc"],
    about: "an interceptor: runs around a handler",
    example: "timing",
  }),
  simpleKind(filterTemplate, {
    name: "filter",
    aliases: ["f"],
    about: "a filter: answers for errors of its choice",
    example: "payment",
  }),
  simpleKind(pipeTemplate, {
    name: "pipe",
    aliases: ["pi"],
    about: "a pipe: makes a value of what was sent, or refuses it",
    example: "slug",
  }),
  simpleKind(dtoTemplate, {
    name: "dto",
    aliases: [],
    about: "a DTO: the shape of what is sent",
    example: "create-order",
  }),
  {
    name: "model",
    aliases: [],
    about: "a model with its migration, listed in the database",
    example: "customer",
    hasFolder: true,
    generate: generateModel,
  },
  {
    name: "migration",
    aliases: [],
    about: "a migration, to be written",
    example: "add-age-to-customers",
    hasFolder: false,
    generate({ plan, project, target }) {
      ensureDatabase(plan, project);
      addMigration(plan, project, target.name.snake, emptyScripts());
      plan.note(
        "Write the migration before the application starts again: it runs once, at the start",
      );
    },
  },
];

/** Gives a kind that no module lists. */
function simpleKind(
  template: (name: EntityName) => CodeAndTest,
  kind: Omit<Kind, "generate" | "hasFolder">,
): Kind {
  return {
    ...kind,
    hasFolder: true,
    generate: ({ plan, target }) => void addCode(plan, target, kind.name, template),
  };
}

/** Plans code and its test, and gives the path of the code. */
function addCode(
  plan: FilePlan,
  target: Target,
  kind: string,
  template: (name: EntityName) => CodeAndTest,
): string {
  const { code, test } = template(target.name);
  const file = posix.join(folderOf(target), `${target.name.snake}_${kind}.ts`);
  plan.create(file, code);
  plan.create(file.replace(/\.ts$/, "_test.ts"), test);
  return file;
}
