/**
 * The schema of responses that are pages.
 *
 * @module
 */
import * as v from "valibot";
import type { Context } from "../../core/http/context.ts";
import { answeredQuery, withEffects } from "../../core/schema/response_effects.ts";
import type { Page } from "../model/page.ts";
import { isPlainObject } from "../model/plain_object.ts";

/** The schema of a page of rows. */
export type PageSchema<R extends v.GenericSchema> = v.GenericSchema<
  Page<v.InferInput<R>>,
  Page<v.InferOutput<R>>
>;

/** The most characters of the links: servers limit the headers of a response. */
const MAX_LINKS = 4096;

/**
 * Returns the schema of a response that is a page of rows, as `page` of a repository returns it. It
 * sets and documents two headers: `Link` (RFC 8288) with the relations `next` and `first`, of pages
 * by an offset also `prev` and `last`; and `X-Total-Count` if the rows were counted. The links are
 * relative to the URL of the request, and keep its other parameters. Those that would make the
 * header longer than 4096 characters are omitted.
 */
export function pageOf<R extends v.GenericSchema>(row: R): PageSchema<R> {
  const schema = v.object({
    rows: v.array(row),
    next: v.pipe(
      v.nullable(v.string()),
      v.description("The `cursor` or `offset` of the next page; `null` on the last page"),
    ),
    total: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(0),
        v.description("The number of rows on all pages, if they were counted"),
      ),
    ),
  });
  return withEffects(schema as PageSchema<R>, {
    headers: {
      "Link": {
        description: "The URLs of other pages, relative to that of the request (RFC 8288)",
        schema: { type: "string" },
      },
      "X-Total-Count": {
        description: "The number of rows on all pages, if they were counted",
        schema: { type: "integer", minimum: 0 },
      },
    },
    setHeaders(output, c) {
      const page = output as Page<unknown>; // the schema has accepted it
      const links = linksOf(page, c);
      if (links !== "") c.header("Link", links, { append: true });
      if (page.total !== undefined) c.header("X-Total-Count", String(page.total));
    },
  });
}

function linksOf({ next, total }: Page<unknown>, c: Context): string {
  const query = answeredQuery.get(c);
  const { skip, take } = isPlainObject(query) ? query : {};
  const others = new URL(c.req.url).searchParams;
  others.delete("cursor");
  others.delete("offset");
  const link = (relation: string, parameter?: readonly [name: string, value: unknown]) => {
    const parameters = new URLSearchParams(others);
    if (parameter) parameters.set(parameter[0], String(parameter[1]));
    return `<?${parameters}>; rel="${relation}"`;
  };
  const isByOffset = typeof skip === "number" && typeof take === "number";
  const links = [
    ...next === null ? [] : [link("next", [isByOffset ? "offset" : "cursor", next])],
    ...isByOffset && skip > 0 ? [link("prev", ["offset", before({ skip, take, total })])] : [],
    link("first"),
    ...isByOffset && total !== undefined ? [link("last", ["offset", lastOf(total, take)])] : [],
  ];
  let text = "";
  for (const each of links) {
    const longer = text === "" ? each : `${text}, ${each}`;
    if (longer.length <= MAX_LINKS) text = longer;
  }
  return text;
}

/** Returns the offset of the last page. */
function lastOf(total: number, take: number): number {
  return Math.max(0, Math.ceil(total / take) - 1) * take;
}

/** Returns the offset of the page before another, which may be beyond the last one. */
function before(
  { skip, take, total = Infinity }: {
    readonly skip: number;
    readonly take: number;
    readonly total: number | undefined;
  },
): number {
  return Math.max(0, Math.min(skip - take, lastOf(total, take)));
}
