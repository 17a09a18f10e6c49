/**
 * The schemas of resources.
 *
 * @module
 */
import type { ResourceTemplate } from "./resource_template.ts";

/** What of a path is the key of a row; shared by all resources. */
export const ID_PARAM = `import { dto } from "@fw/fw";
import * as v from "valibot";

/** The id of a row, in a path. */
export const IdParam = dto(
  "IdParam",
  v.object({
    id: v.pipe(
      v.string(),
      v.digits("Expected a whole number"),
      v.toNumber(),
      v.safeInteger(),
    ),
  }),
);
`;

/** What of a query chooses a page; shared by all resources. */
export const PAGE_QUERY = `import { dto } from "@fw/fw";
import * as v from "valibot";

const WholeNumber = v.pipe(
  v.string(),
  v.digits("Expected a whole number"),
  v.toNumber(),
  v.safeInteger(),
);

/** A page of a list: how many rows to skip, and how many to take (1 to 100). */
export const PageQuery = dto(
  "PageQuery",
  v.object({
    skip: v.optional(v.pipe(WholeNumber, v.minValue(0)), "0"),
    take: v.optional(
      v.pipe(WholeNumber, v.minValue(1), v.maxValue(100)),
      "20",
    ),
  }),
);
export type PageQuery = v.InferOutput<typeof PageQuery>;
`;

/** Gives the DTOs of a resource: what is sent to it, and what it sends. */
export function resourceDto({ one }: ResourceTemplate): string {
  return `import { dto } from "@fw/fw";
import * as v from "valibot";

const Name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(100));

/** The body of a request that creates ${one.withArticle()}. */
export const Create${one.pascal}Dto = dto("Create${one.pascal}Dto", v.object({ name: Name }));
export type Create${one.pascal}Dto = v.InferOutput<typeof Create${one.pascal}Dto>;

/** The fields of ${one.withArticle()} to change. */
export const Update${one.pascal}Dto = dto(
  "Update${one.pascal}Dto",
  v.object({ name: v.optional(Name) }),
);
export type Update${one.pascal}Dto = v.InferOutput<typeof Update${one.pascal}Dto>;

/** ${
    one.withArticle().replace(/^a/, "A")
  } in a response: fields that are not declared are never sent. */
export const ${one.pascal}Row = dto(
  "${one.pascal}Row",
  v.object({ id: v.pipe(v.number(), v.integer()), name: v.string() }),
);
`;
}
