/**
 * Lists: the schema of the parameters that filter, sort and page the rows of a model.
 *
 * @module
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { withEffects } from "../../core/schema/response_effects.ts";
import type { MemberSpecs } from "../model/column_spec.ts";
import type { AnyModel } from "../model/model.ts";
import type { PageQuery } from "../model/page.ts";
import type { ListColumn, ListInput, ListOptions, PageKind } from "./list_input.ts";
import { listParameters, readParameters } from "./list_parameters.ts";

/** The query of a page of a model, for `page` of its repository. */
export type ListQuery<M extends AnyModel> = PageQuery<
  M["~model"]["table"],
  MemberSpecs<M, Record<never, never>>["all"]
>;

/** The schema of the parameters of a list. */
export type ListSchema<
  M extends AnyModel,
  Filter extends string,
  Sort extends string,
  Kind extends PageKind,
> = StandardSchemaV1<ListInput<M, Filter, Sort, Kind>, ListQuery<M>>;

/**
 * Returns the schema of the query of a route that lists rows of a model. Its output is what `page`
 * of the repository takes. Parameters that it does not name are refused.
 *
 * | parameter                               | rows                                              |
 * | --------------------------------------- | ------------------------------------------------- |
 * | `status=a`, `status=a&status=b`         | that have the value, or one of at most 100        |
 * | `views[gte]=10`, also `gt`, `lt`, `lte` | in a range of numbers, times or dates             |
 * | `author_id[isNull]=true`, or `false`    | without a value, or with one                      |
 * | `sort=-created_at,id`                   | in this order, `-` before a descending column     |
 * | `limit=20`                              | at most 20                                        |
 * | `cursor=…`, or `offset=40`              | after those of a page, or after the first 40      |
 *
 * @example
 * ```ts
 * import { controller, inject, route } from "@fw/fw";
 * import { DbService, field, model } from "@fw/fw/db";
 * import { listOf, pageOf } from "@fw/fw/db/schemas";
 * import * as v from "valibot";
 *
 * const Post = model("posts", { id: field.integer().primaryKey(), title: field.text() });
 * class Db extends DbService.with({ post: Post }) {}
 *
 * class PostsController extends controller("posts") {
 *   readonly #posts = inject(Db).post;
 *   list = route.get("/", {
 *     query: listOf(Post, { filter: ["title"], sort: ["id", "title"] }),
 *     response: pageOf(v.object({ id: v.number(), title: v.string() })),
 *   }, ({ query }) => this.#posts.page(query));
 * }
 * ```
 *
 * @throws {TypeError} if a column is unknown or of JSON, an array or bytes, has the name of another
 * parameter, or an option is unknown or invalid
 */
export function listOf<
  M extends AnyModel,
  const Filter extends ListColumn<M> = never,
  const Sort extends ListColumn<M> = never,
  const Kind extends PageKind = "cursor",
>(
  model: M,
  options: ListOptions<Filter, Sort, Kind> = {},
): ListSchema<M, Filter, Sort, Kind> {
  const { parameters, draft } = listParameters(model, options);
  const properties = Object.fromEntries(
    Array.from(parameters, ([name, { json }]) => [name, json]),
  );
  const json = { type: "object", properties, additionalProperties: false };
  const schema: StandardSchemaV1<ListInput<M, Filter, Sort, Kind>, ListQuery<M>> & {
    readonly "~standard": StandardJSONSchemaV1["~standard"];
  } = {
    "~standard": {
      version: 1,
      vendor: "fw",
      // The parameters make the where and the order of the columns of the model.
      validate: (value) =>
        readParameters(value, { parameters, draft }) as StandardSchemaV1.Result<ListQuery<M>>,
      jsonSchema: { input: () => json, output: () => ({ type: "object" }) },
    },
  };
  const { page = "cursor" } = options;
  return withEffects(schema, page === "cursor" ? { problems: [400] } : {});
}
