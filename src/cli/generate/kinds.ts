/**
 * All that can be generated.
 *
 * @module
 */
import type { Kind } from "./kind.ts";
import { CONTROLLER } from "./kinds/controller.ts";
import { DTO } from "./kinds/dto.ts";
import { FILTER } from "./kinds/filter.ts";
import { GUARD } from "./kinds/guard.ts";
import { INTERCEPTOR } from "./kinds/interceptor.ts";
import { MIGRATION } from "./kinds/migration.ts";
import { MODEL } from "./kinds/model.ts";
import { MODULE } from "./kinds/module.ts";
import { PIPE } from "./kinds/pipe.ts";
import { RESOURCE } from "./kinds/resource.ts";
import { SERVICE } from "./kinds/service.ts";

/** All that can be generated, as the help lists it. */
export const KINDS: readonly Kind[] = [
  RESOURCE,
  MODULE,
  CONTROLLER,
  SERVICE,
  GUARD,
  INTERCEPTOR,
  FILTER,
  PIPE,
  DTO,
  MODEL,
  MIGRATION,
];
