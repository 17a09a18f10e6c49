/**
 * A part of the kitchen sink that is small enough for its document to be written out whole; see
 * `shop_document.ts`.
 *
 * @module
 */
import * as v from "valibot";
import {
  type CanActivate,
  type Context,
  controller,
  dto,
  type Module,
  module,
  NotFoundException,
  optional,
  route,
  UnauthorizedException,
} from "../../../mod.ts";
import { OAuth2Guard, OAuth2Principal } from "../../../src/oauth2/mod.ts";

/** Cents. The component of this name that is written by hand goes before what this would become. */
export const Money = dto("Money", v.pipe(v.number(), v.integer(), v.minValue(0)));

/** It contains itself. */
interface Category {
  name: string;
  parts: Category[];
}
const Category: v.GenericSchema<Category> = dto(
  "Category",
  v.object({ name: v.string(), parts: v.array(v.lazy(() => Category)) }),
);

/** It is used in both directions, and its input differs from its output: a text for a date, and a default. */
const Product = dto(
  "Product",
  v.object({
    id: v.pipe(v.string(), v.uuid()),
    name: v.pipe(v.string(), v.minLength(2), v.maxLength(40)),
    price: Money,
    stock: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
    since: v.pipe(v.string(), v.isoTimestamp(), v.toDate()),
    category: v.optional(Category),
  }),
);
type Product = v.InferOutput<typeof Product>;

/** Its input equals its output, except for its members. */
const Range = dto("Range", v.object({ best: Product, others: v.array(Product) }));

const Tenant = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(20),
  v.description("Whose shop it is"),
);
const WholeNumber = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number));
const Currency = v.picklist(["EUR", "USD"]);

const ProductsQuery = v.object({
  take: v.optional(
    v.pipe(WholeNumber, v.integer(), v.minValue(1), v.maxValue(100), v.description("How many")),
    "20",
  ),
  sort: v.optional(v.picklist(["name", "price"]), "name"),
  since: v.optional(v.pipe(v.string(), v.isoDate())),
  cheaper_than: v.optional(
    v.pipe(WholeNumber, v.integer(), v.minValue(0), v.maxValue(1_000_000)),
  ),
  search: v.pipe(v.string(), v.maxLength(30)),
});

export class ProductsController extends controller(":tenant/products", { version: "v2" }) {
  readonly #products = new Map<string, Product>();

  listOnSale = route.get(
    "/",
    {
      params: v.object({ tenant: Tenant }),
      query: ProductsQuery,
      headers: v.object({
        "x-currency": v.optional(Currency, "EUR"),
        "x-client": v.pipe(v.string(), v.minLength(1)),
        accept: v.optional(v.string()),
        authorization: v.optional(v.string()),
      }),
      response: v.object({ query: v.record(v.string(), v.unknown()), currency: Currency }),
    },
    ({ query, headers }) => ({ query, currency: headers["x-currency"] }),
  );

  create_one = route.post(
    "/",
    {
      params: v.object({ tenant: Tenant }),
      body: Product,
      response: Product,
      status: 201,
      openapi: {
        responses: { 201: { description: "It is sold now", headers: { Location: "Its path" } } },
      },
    },
    ({ body }, c) => {
      this.#products.set(body.id, body);
      c.header("location", `${new URL(c.req.url).pathname.replace(/\/$/, "")}/${body.id}`);
      return sent(body);
    },
  );

  findByID = route.get(
    "/:id",
    {
      params: v.object({ tenant: Tenant, id: v.pipe(v.string(), v.uuid()) }),
      response: Product,
      openapi: { responses: { 200: "The product", 410: "It was sold" } },
    },
    ({ params }) =>
      sent(this.#products.get(params.id) ?? NotFoundException.throw("No such product")),
  );

  range = route.put(
    "/range",
    {
      params: v.object({ tenant: Tenant }),
      body: Range,
      response: Range,
      openapi: {
        summary: "Compare products",
        description: "Gives back what it takes.",
        tag: "comparisons",
        operationId: "compare",
      },
    },
    ({ body }) => ({ best: sent(body.best), others: body.others.map(sent) }),
  );

  category = route.get(
    "/categories/:depth{[0-9]}",
    { response: Category, etag: { "~version": "version" } },
    ({ params: { depth } }) => ({ ...categoryOf(Number(depth)), version: Number(depth) + 1 }),
  );
}

/** Knows a caller by a header; what it needs is not known to the document. */
export class KnownCaller implements CanActivate {
  canActivate(c: Context): boolean {
    return (c.req.header("x-caller") ?? UnauthorizedException.throw("Who is it?")) !== "mallory";
  }
}

/** Knows a caller by a key. */
function hasKey(c: Context): boolean {
  return (c.req.header("x-api-key") ?? UnauthorizedException.throw("No key")) === "secret";
}

const Subject = v.object({ subject: v.nullable(v.string()) });

/** Every kind of protection. */
export class AccountController extends controller("account", { tag: "Accounts" }) {
  open = route.get("/open", { response: Subject }, () => ({ subject: null }));

  guarded = route.get(
    "/guarded",
    { guards: [KnownCaller], response: Subject },
    (_, c) => ({ subject: c.req.header("x-caller") ?? null }),
  );

  behindGuard = route.get(
    "/behind-guard",
    { guards: [OAuth2Guard], response: Subject },
    () => ({ subject: null }),
  );

  principal = route.get(
    "/principal",
    { args: { me: OAuth2Principal }, response: Subject },
    ({ me }) => ({ subject: me.subject }),
  );

  anybody = route.get(
    "/anybody",
    { args: { me: optional(OAuth2Principal) }, response: Subject },
    ({ me }) => ({ subject: me?.subject ?? null }),
  );

  staff = route.get(
    "/staff",
    { roles: ["admin", "clerk"], response: Subject },
    () => ({ subject: null }),
  );

  orders = route.get(
    "/orders",
    { scopes: ["orders:read", "orders:write"], response: Subject },
    () => ({ subject: null }),
  );

  byKey = route.get(
    "/by-key",
    { guards: [hasKey], response: Subject, openapi: { security: [{ apiKey: [] }] } },
    () => ({ subject: "key" }),
  );

  everybody = route.get(
    "/everybody",
    { public: true, response: Subject },
    () => ({ subject: null }),
  );
}

export const ShopModule: Module = module({
  name: "ShopModule",
  controllers: [ProductsController, AccountController],
});

/** Returns what the schema takes of a product. */
function sent({ since, ...product }: Product): v.InferInput<typeof Product> {
  return { ...product, since: since.toISOString() };
}

function categoryOf(depth: number): Category {
  return { name: `Level ${depth}`, parts: depth > 0 ? [categoryOf(depth - 1)] : [] };
}
