/**
 * An application of tenants, whose holes are chosen by name: without any, each tenant has its own
 * customers and invoices, and all share the categories.
 */
import { sql } from "kysely";
import * as v from "valibot";
import {
  ConflictException,
  type Context,
  controller,
  dto,
  ForbiddenException,
  inject,
  type Module,
  module,
  NotFoundException,
  provide,
  route,
} from "../../../../mod.ts";
import {
  belongsTo,
  DbModule,
  DbOptions,
  DbService,
  field,
  hasMany,
  model,
} from "../../../../src/db/mod.ts";
import { oauth2Identity } from "../../../../src/oauth2/mod.ts";

const Category = model("categories", { id: field.integer().primaryKey(), name: field.text() });
const Customer = model("customers", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  name: field.text({ min: 1, max: 80 }),
});
const Invoice = model("invoices", {
  id: field.integer().primaryKey(),
  tenant_id: field.text({ max: 40 }),
  code: field.text({ min: 1, max: 40 }),
  customer_id: field.integer().references(Customer),
  category_id: field.integer().references(Category).nullable(),
  status: field.enum(["draft", "sent"]).default("draft"),
  total: field.integer().default(0),
}, { unique: [["tenant_id", "code"]] });

class Db extends DbService.with({ category: Category, customer: Customer, invoice: Invoice }, {
  category: { invoices: hasMany(Invoice.category_id) },
  customer: { invoices: hasMany(Invoice.customer_id) },
  invoice: { customer: belongsTo(Invoice.customer_id) },
}) {}

const Whole = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1e9));
const Id = dto(
  "Id",
  v.object({ id: v.pipe(v.string(), v.regex(/^[1-9]\d{0,8}$/), v.transform(Number)) }),
);
const Code = v.pipe(v.string(), v.regex(/^[\w-]{1,40}$/));
const NewInvoice = dto(
  "NewInvoice",
  v.looseObject({ code: Code, customer_id: Whole, total: v.optional(Whole) }),
);
const InvoiceChange = dto(
  "InvoiceChange",
  v.object({ total: v.optional(Whole), status: v.optional(v.picklist(["draft", "sent"])) }),
);
const InvoiceIds = dto(
  "InvoiceIds",
  v.object({ invoice_ids: v.pipe(v.array(Whole), v.maxLength(5)) }),
);
const Page = dto(
  "Page",
  v.object({
    status: v.optional(v.picklist(["draft", "sent"])),
    sort: v.optional(v.picklist(["id", "-id", "total"])),
    customer_id: v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number))),
    tenant: v.optional(Code),
  }),
);
const InvoiceSearch = dto("InvoiceSearch", v.object({ customer: Whole }));
const CustomerSearch = dto(
  "CustomerSearch",
  v.object({ name: v.pipe(v.string(), v.minLength(1)) }),
);
const InvoiceRow = dto(
  "InvoiceRow",
  v.object({
    id: v.number(),
    code: v.string(),
    customer_id: v.number(),
    status: v.string(),
    total: v.number(),
  }),
);
const Named = v.object({ id: v.number(), name: v.string() });

/** What an application does wrong. */
export type Hole =
  | "findUnique"
  | "findMany"
  | "count"
  | "update"
  | "delete"
  | "include"
  | "relation filter"
  | "relation order"
  | "reference"
  | "nested write"
  | "unique"
  | "check after the update"
  | "message"
  | "bulk update"
  | "bulk delete"
  | "raw SQL"
  | "cache"
  | "export"
  | "forbidden"
  | "mass assignment"
  | "filter"
  | "tenant of a query"
  | "search by a reference"
  | "search by a column";

class Holes {
  readonly names: ReadonlySet<Hole>;
  constructor(names: readonly Hole[]) {
    this.names = new Set(names);
  }
}

function tenantOf(c: Context): string {
  const tenant = oauth2Identity(c)?.claims.tenant_id;
  return typeof tenant === "string" ? tenant : ForbiddenException.throw("No tenant");
}

class Invoices {
  readonly #db = inject(Db);
  readonly #holes = inject(Holes).names;
  readonly #cache = new Map<string, unknown>();

  has(hole: Hole): boolean {
    return this.#holes.has(hole);
  }

  /** The invoices of a tenant, or all of them if the operation has the hole. */
  #of(tenant_id: string, hole?: Hole) {
    return hole && this.has(hole)
      ? this.#db.invoice as unknown as ReturnType<typeof invoicesOf>
      : invoicesOf(this.#db, tenant_id);
  }

  async page(
    caller: string,
    { sort = "id", tenant: chosen = caller, ...where }: v.InferOutput<typeof Page>,
  ) {
    const tenant = this.has("tenant of a query") ? chosen : caller;
    const hole = where.customer_id === undefined ? "findMany" : "filter";
    const orderBy = sort === "-id" ? { id: "desc" } as const : { [sort]: "asc" } as { id: "asc" };
    const given = Object.fromEntries(
      Object.entries(where).filter(([, value]) => value !== undefined),
    );
    const rows = await this.#of(tenant, hole).findMany({
      where: given,
      orderBy: [orderBy, { id: "asc" }],
    });
    return { rows, total: await this.#of(tenant, "count").count({ where: given }) };
  }

  search(tenant: string, customer_id: number) {
    return this.#of(tenant, "search by a reference").findMany({ where: { customer_id } });
  }

  customersNamed(tenant_id: string, name: string) {
    return this.has("search by a column")
      ? this.#db.customer.findMany({ where: { name } })
      : customersOf(this.#db, tenant_id).findMany({ where: { name } });
  }

  async one(tenant: string, id: number) {
    const found = await this.#of(tenant, "findUnique").findUnique({ where: { id } });
    if (found) return found;
    const other = await this.#db.invoice.findUnique({ where: { id } });
    if (other && this.has("forbidden")) throw new ForbiddenException("It is not yours");
    if (other && this.has("message")) throw new NotFoundException(`${other.code} is not yours`);
    throw new NotFoundException("No such invoice");
  }

  async cached(tenant: string, id: number) {
    const key = this.has("cache") ? String(id) : `${tenant} ${id}`;
    const found = this.#cache.get(key) ?? await this.one(tenant, id);
    this.#cache.set(key, found);
    return found as Awaited<ReturnType<typeof this.one>>;
  }

  async create(tenant: string, body: v.InferOutput<typeof NewInvoice>) {
    const customers = this.has("reference")
      ? this.#db.customer
      : this.#db.customer.scoped({ tenant_id: tenant });
    if (!await customers.exists({ where: { id: body.customer_id } })) {
      throw new NotFoundException("No such customer");
    }
    if (this.has("unique") && await this.#db.invoice.exists({ where: { code: body.code } })) {
      throw new ConflictException("The code is taken");
    }
    const { code, customer_id, total = 0, tenant_id } = body;
    const data = { code, customer_id, total };
    if (!this.has("mass assignment")) return await this.#of(tenant).create({ data });
    return await this.#db.invoice.create({
      data: { ...data, tenant_id: String(tenant_id ?? tenant) },
    });
  }

  async update(tenant: string, id: number, data: v.InferOutput<typeof InvoiceChange>) {
    if (!this.has("check after the update")) {
      return await this.#of(tenant, "update").update({ where: { id }, data });
    }
    const row = await this.#db.invoice.update({ where: { id }, data });
    if (row.tenant_id !== tenant) throw new NotFoundException("No such invoice");
    return row;
  }

  delete(tenant: string, id: number) {
    return this.#of(tenant, "delete").delete({ where: { id } });
  }

  async send(tenant: string) {
    await this.#of(tenant, "bulk update").updateMany({
      where: { id: { gte: 0 } },
      data: { status: "sent" },
    });
  }

  async clear(tenant: string) {
    await this.#of(tenant, "bulk delete").deleteMany({ where: { id: { gte: 0 } } });
  }

  async sum(tenant: string) {
    const condition = this.has("raw SQL") ? sql`1 = 1` : sql`tenant_id = ${tenant}`;
    const { rows: [row] } = await sql<{ sum: unknown }>`
      select sum(total + 1) as sum from invoices where ${condition}`.execute(this.#db.kysely);
    return { sum: Number(row?.sum ?? 0) };
  }

  export(tenant: string): ReadableStream<Uint8Array> {
    const rows = this.#of(tenant, "export").stream({ orderBy: { id: "asc" } });
    const lines = async function* () {
      for await (const { id, code } of rows) yield new TextEncoder().encode(`${id},${code}\n`);
    };
    return ReadableStream.from(lines());
  }

  categories(tenant_id: string) {
    const where = this.has("include") ? {} : { tenant_id };
    return this.#db.category.findMany({ include: { invoices: { where } }, orderBy: { id: "asc" } });
  }

  usedCategories(tenant_id: string) {
    const some = this.has("relation filter") ? {} : { tenant_id };
    return this.#db.category.findMany({ where: { invoices: { some } }, orderBy: { id: "asc" } });
  }

  sortedCategories() {
    return this.#db.category.findMany({
      orderBy: this.has("relation order")
        ? [{ invoices: { _count: "desc" } }, { id: "asc" }]
        : [{ name: "asc" }],
    });
  }

  async assign(tenant_id: string, id: number, ids: readonly number[]) {
    const customers = this.has("nested write")
      ? this.#db.customer as unknown as ReturnType<typeof customersOf>
      : customersOf(this.#db, tenant_id);
    if (!await customersOf(this.#db, tenant_id).exists({ where: { id } })) {
      throw new NotFoundException("No such customer");
    }
    await customers.update({
      where: { id },
      data: { invoices: { connect: ids.map((id) => ({ id })) } },
    });
  }
}

function invoicesOf(db: Db, tenant_id: string) {
  return db.invoice.scoped({ tenant_id });
}

function customersOf(db: Db, tenant_id: string) {
  return db.customer.scoped({ tenant_id });
}

class InvoicesController extends controller("invoices") {
  readonly #invoices = inject(Invoices);

  list = route.get(
    "/",
    {
      query: Page,
      response: v.object({ rows: v.array(InvoiceRow), total: v.number() }),
      args: { tenant: tenantOf },
    },
    ({ tenant, query }) => this.#invoices.page(tenant, query),
  );

  sum = route.get(
    "/sum",
    { response: v.object({ sum: v.number() }), args: { tenant: tenantOf } },
    ({ tenant }) => this.#invoices.sum(tenant),
  );

  export = route.get(
    "/export",
    { args: { tenant: tenantOf } },
    ({ tenant }) =>
      new Response(this.#invoices.export(tenant), { headers: { "content-type": "text/csv" } }),
  );

  one = route.get(
    "/:id",
    { params: Id, response: InvoiceRow, args: { tenant: tenantOf } },
    ({ tenant, params }) => this.#invoices.one(tenant, params.id),
  );

  cached = route.get(
    "/:id/cached",
    { params: Id, response: InvoiceRow, args: { tenant: tenantOf } },
    ({ tenant, params }) => this.#invoices.cached(tenant, params.id),
  );

  create = route.post(
    "/",
    { body: NewInvoice, response: InvoiceRow, status: 201, args: { tenant: tenantOf } },
    ({ tenant, body }) => this.#invoices.create(tenant, body),
  );

  update = route.patch(
    "/:id",
    { params: Id, body: InvoiceChange, response: InvoiceRow, args: { tenant: tenantOf } },
    ({ tenant, params, body }) => this.#invoices.update(tenant, params.id, body),
  );

  delete = route.delete(
    "/:id",
    { params: Id, response: InvoiceRow, args: { tenant: tenantOf } },
    ({ tenant, params }) => this.#invoices.delete(tenant, params.id),
  );

  search = route.post(
    "/search",
    { body: InvoiceSearch, response: v.array(InvoiceRow), args: { tenant: tenantOf } },
    ({ tenant, body }) => this.#invoices.search(tenant, body.customer),
  );

  send = route.post(
    "/send",
    { status: 204, args: { tenant: tenantOf } },
    ({ tenant }) => this.#invoices.send(tenant),
  );

  clear = route.delete(
    "/",
    { status: 204, args: { tenant: tenantOf } },
    ({ tenant }) => this.#invoices.clear(tenant),
  );
}

class CategoriesController extends controller("categories") {
  readonly #invoices = inject(Invoices);

  list = route.get(
    "/",
    {
      response: v.array(v.object({ ...Named.entries, invoices: v.array(InvoiceRow) })),
      args: { tenant: tenantOf },
    },
    ({ tenant }) => this.#invoices.categories(tenant),
  );

  used = route.get(
    "/used",
    { response: v.array(Named), args: { tenant: tenantOf } },
    ({ tenant }) => this.#invoices.usedCategories(tenant),
  );

  sorted = route.get(
    "/sorted",
    { response: v.array(Named) },
    () => this.#invoices.sortedCategories(),
  );
}

class CustomersController extends controller("customers") {
  readonly #invoices = inject(Invoices);

  search = route.post(
    "/search",
    { body: CustomerSearch, response: v.array(Named), args: { tenant: tenantOf } },
    ({ tenant, body }) => this.#invoices.customersNamed(tenant, body.name),
  );

  assign = route.put(
    "/:id/invoices",
    { params: Id, body: InvoiceIds, status: 204, args: { tenant: tenantOf } },
    ({ tenant, params, body }) => this.#invoices.assign(tenant, params.id, body.invoice_ids),
  );
}

/** The application with holes. */
export function invoicesModule(holes: readonly Hole[]): Module {
  return module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:"))],
    providers: [Invoices, provide(Holes, () => new Holes(holes))],
    controllers: [InvoicesController, CategoriesController, CustomersController],
  });
}
