/** Holes in a project of `fw new` with generated resources of tenants. */
import type { Hole } from "./hole.ts";

const app = "src/app.ts";
const tenant = "src/caller_tenant.ts";
const session = "src/session/session_controller.ts";
const customers = "src/customers/customers_service.ts";
const customerDto = "src/customers/customer_dto.ts";
const customerModel = "src/customers/customer_model.ts";
const customersController = "src/customers/customers_controller.ts";
const invoices = "src/invoices/invoices_service.ts";
const invoiceModel = "src/invoices/invoice_model.ts";

/** Those that mix tenants. */
const TENANTS: readonly Hole[] = [
  {
    name: "a page has customers of all tenants",
    file: customers,
    text: "return this.#of(tenant_id).page(query);",
    replacement: "return this.#db.customer.page(query);",
    part: "tenants",
    failure: /^GET \/api\/v1\/customers: gives bob a row of ann$/,
  },
  {
    name: "an invoice of any tenant is changed",
    file: invoices,
    text: "return await this.#of(tenant_id).update({ where: key, data });",
    replacement: "return await this.#db.invoice.update({ where: key, data });",
    part: "tenants",
    failure: /^PATCH \/api\/v1\/invoices\/:id: bob changes a row of ann \(invoices\)/,
  },
  {
    name: "an invoice of any tenant is deleted",
    file: invoices,
    text: "return this.#of(tenant_id).delete({ where: key });",
    replacement: "return this.#db.invoice.delete({ where: key });",
    part: "tenants",
    failure: /^DELETE \/api\/v1\/invoices\/:id: bob deletes a row of ann \(invoices\)/,
  },
  {
    name: "deleting a customer deletes its namesakes",
    file: customers,
    text: "  delete(tenant_id: string, key: CustomerKey): Promise<Customer> {\n",
    replacement: `  async delete(tenant_id: string, key: CustomerKey): Promise<Customer> {
    const { active } = await this.one(tenant_id, key);
    await this.#db.invoice.deleteMany({ where: { total: { gte: 0 } } });
    if (active) await this.#db.customer.deleteMany({ where: { active, id: { not: key.id } } });
`,
    part: "tenants",
    failure: /^DELETE \/api\/v1\/customers\/:id: bob deletes a row of ann/,
  },
  {
    name: "an address is unique among all tenants",
    file: customerModel,
    text: "email: field.text().email(),",
    replacement: "email: field.text().email().unique(),",
    part: "tenants",
    failure:
      /^POST \/api\/v1\/customers: answers bob 409 if a row of ann has the same customers\.email/,
  },
  {
    name: "an address of another tenant is refused",
    file: customers,
    text: "  create(tenant_id: string, data: CreateCustomerDto): Promise<Customer> {\n",
    replacement: `  async create(tenant_id: string, data: CreateCustomerDto): Promise<Customer> {
    if (await this.#db.customer.exists({ where: { email: data.email } })) {
      NotFoundException.throw("The address is taken");
    }
`,
    part: "tenants",
    failure: /^POST \/api\/v1\/customers: .*(?:depends on rows of ann|answers bob 404)/,
  },
  {
    name: "a new invoice refers to a customer of another tenant",
    file: invoices,
    text:
      "await this.#checkReferences(tenant_id, data);\n    return await this.#of(tenant_id).create({ data });",
    replacement: "return await this.#of(tenant_id).create({ data });",
    part: "tenants",
    failure:
      /^POST \/api\/v1\/invoices: a row of bob refers to one of ann \(invoices\.customer_id\)/,
  },
  {
    name: "an invoice is changed to refer to a customer of another tenant",
    file: invoices,
    text:
      "await this.#checkReferences(tenant_id, data);\n    return await this.#of(tenant_id).update",
    replacement: "return await this.#of(tenant_id).update",
    part: "tenants",
    failure:
      /^PATCH \/api\/v1\/invoices\/:id: a row of bob refers to one of ann \(invoices\.customer_id\)/,
  },
  {
    name: "references are checked among all tenants",
    file: invoices,
    text: "!await this.#db.customer.scoped({ tenant_id }).exists({",
    replacement: "!await this.#db.customer.exists({",
    part: "tenants",
    failure:
      /^POST \/api\/v1\/invoices: a row of bob refers to one of ann \(invoices\.customer_id\)/,
  },
  {
    name: "a refusal has a customer of another tenant",
    file: customers,
    text: 'NotFoundException.throw("No such customer")',
    replacement: `NotFoundException.throw(
        \`Not yours: \${(await this.#db.customer.findUnique({ where: key }))?.name}\`,
      )`,
    part: "tenants",
    failure: /^GET \/api\/v1\/customers\/:id: the 404 to bob has a value of a row of ann$/,
  },
  {
    name: "the number of an invoice counts those of all tenants",
    file: invoices,
    text: "return await this.#of(tenant_id).create({ data });",
    replacement: `const total = await this.#db.invoice.count() % 100000;
    return await this.#of(tenant_id).create({ data: { ...data, total } });`,
    part: "tenants",
    failure: /^POST \/api\/v1\/invoices: the answer to bob depends on rows of ann: total is/,
  },
  {
    name: "invoices are cached for all tenants",
    file: invoices,
    text: `    return await this.#of(tenant_id).findUnique({ where: key }) ??
      NotFoundException.throw("No such invoice");
  }`,
    replacement: `    const cached = this.#cache.get(String(key.id)) ??
      await this.#of(tenant_id).findUnique({ where: key }) ??
      NotFoundException.throw("No such invoice");
    this.#cache.set(String(key.id), cached);
    return cached;
  }

  readonly #cache = new Map<string, Invoice>();`,
    part: "tenants",
    failure: /^GET \/api\/v1\/invoices\/:id: gives bob a row of ann$/,
  },
];

/** Those that let in others. */
const PROTECTION: readonly Hole[] = [
  {
    name: "callers without a tenant have that of others",
    file: tenant,
    text: 'throw new ForbiddenException("The token names no tenant");',
    replacement: 'return "a";',
    part: "roles",
    failure: /^GET \/api\/v1\/customers: root: allowed, and prove\.json has 403/,
  },
  {
    name: "the own account is for administrators",
    file: "src/me/me_controller.ts",
    text: 'controller("me")',
    replacement: 'controller("me", { roles: ["admin"] })',
    part: "roles",
    failure: /^GET \/api\/me: ann: 403, and prove\.json has allowed/,
  },
  {
    name: "the greeting needs a token",
    file: "src/greeting/greeting_controller.ts",
    text: 'controller("", { public: true })',
    replacement: 'controller("")',
    part: "roles",
    failure: /^GET \/api: anonymous: 401, and prove\.json has allowed/,
  },
  {
    name: "the login needs a token in the document",
    file: session,
    text: 'controller("session", { public: true })',
    replacement: 'controller("session")',
    part: "contract",
    failure: /^POST \/api\/session: needs bearerAuth, needed nothing \(breaking\)$/,
  },
  {
    name: "the application needs no token",
    file: app,
    text: ".useAuthn(app.get(JwtService), { require: true });",
    replacement: `.use(async (c, next) => {
      if (!c.req.header("authorization")) c.set("guest", true);
      await next();
    })
    .useAuthn({ verify: () => Promise.resolve({ claims: { sub: "x", exp: 4e9, tenant_id: "a" } }) });`,
    part: "roles",
    failure: /^GET \/api\/me: it needs a token, and expired gets 200 instead of 401$/,
  },
];

/** Those whose answers are not as documented. */
const ANSWERS: readonly Hole[] = [
  {
    name: "a new customer has no Location",
    file: customersController,
    text: 'c.header("Location", `${c.req.path.replace(/\\/$/, "")}/${row.id}`);',
    replacement: "",
    part: "document",
    failure: /^POST \/api\/v1\/customers 201 Location: is not sent/,
  },
  {
    name: "a page is sent as it is stored",
    file: customersController,
    text: "({ query, tenant }) => this.#customers.page(tenant, query)",
    replacement:
      "async ({ query, tenant }, c) => c.json(await this.#customers.page(tenant, query))",
    part: "document",
    failure: /^GET \/api\/v1\/customers(?: 200 Link: is not sent|: the body of 200 has rows)/,
  },
  {
    name: "a deletion has no body",
    file: customersController,
    text: "({ params, tenant }) => this.#customers.delete(tenant, params)",
    replacement:
      "async ({ params, tenant }, c) => (await this.#customers.delete(tenant, params), c.body(null, 204))",
    part: "document",
    failure: /^DELETE \/api\/v1\/customers\/\{id\}: status 204 is not documented$/,
  },
  {
    name: "any password is right",
    file: session,
    text: "if (!this.#credentials.isValid(name, password)) {",
    replacement: "if (!this.#credentials.isValid(name, password) && name === password) {",
    part: "document",
    failure: /^POST \/api\/session 401: is not reached/,
  },
  {
    name: "a session is sent with its name",
    file: session,
    text: "return { token: await this.#jwt.sign({ subject: name }) };",
    replacement: "return c.json({ token: await this.#jwt.sign({ subject: name }), name }, 201);",
    part: "document",
    failure: /^POST \/api\/session: the body of 201 has name, which is not documented$/,
  },
  {
    name: "a long title is a failure",
    file: invoices,
    text: "return await this.#of(tenant_id).create({ data });",
    replacement: `if (data.title.length > 3) throw new TypeError("It is too long");
    return await this.#of(tenant_id).create({ data });`,
    part: "document",
    failure: /^POST \/api\/v1\/invoices: the server has failed with 500$/,
  },
  {
    name: "a reference to no row is answered with 404",
    file: invoices,
    text: 'throw new ConflictException("customer_id refers to no row");',
    replacement: 'NotFoundException.throw("No such customer");',
    part: "document",
    failure: /^POST \/api\/v1\/invoices: status 404 is not documented$/,
  },
];

/** Those that break clients. */
const CONTRACT: readonly Hole[] = [
  {
    name: "a customer cannot be made inactive",
    file: customerDto,
    text: 'updateSchemaOf(Customer, { omit: ["tenant_id"] })',
    replacement: 'updateSchemaOf(Customer, { omit: ["tenant_id", "active"] })',
    part: "contract",
    failure: /^PATCH \/api\/v1\/customers\/\{id\}: body lost "active" \(breaking\)$/,
  },
  {
    name: "a customer loses its birthday",
    file: customerDto,
    text: '  "CustomerRow",\n  schemaOf(Customer, { omit: ["tenant_id"] }),',
    replacement: '  "CustomerRow",\n  schemaOf(Customer, { omit: ["tenant_id", "born"] }),',
    part: "contract",
    failure: /^GET \/api\/v1\/customers\/\{id\}: 200 lost "born" \(breaking\)$/,
  },
  {
    name: "names are shorter",
    file: customerModel,
    text: "max: 80",
    replacement: "max: 40",
    part: "contract",
    failure: /^POST \/api\/v1\/customers: body name .*40.* \(breaking\)$/,
  },
  {
    name: "a birthday is required",
    file: customerModel,
    text: "born: field.date().nullable(),",
    replacement: "born: field.date(),",
    part: "contract",
    failure: /^POST \/api\/v1\/customers: body requires "born" \(breaking\)$/,
  },
  {
    name: "customers are not listed by activity",
    file: customerDto,
    text: 'filter: ["email", "active"]',
    replacement: 'filter: ["email"]',
    part: "contract",
    failure: /^GET \/api\/v1\/customers: query "active.*" is removed \(breaking\)$/,
  },
  {
    name: "customers are not sorted by address",
    file: customerDto,
    text: 'sort: ["id", "email"]',
    replacement: 'sort: ["id"]',
    part: "contract",
    failure: /^GET \/api\/v1\/customers: query "sort" has pattern .* \(breaking\)$/,
  },
  {
    name: "customers have another version",
    file: customersController,
    text: 'controller("customers", { version: "v1" })',
    replacement: 'controller("customers", { version: "v2" })',
    part: "contract",
    failure: /^GET \/api\/v1\/customers: is removed \(breaking\)$/,
  },
  {
    name: "totals are smaller",
    file: invoiceModel,
    text: "max: 100000",
    replacement: "max: 1000",
    part: "contract",
    failure: /^POST \/api\/v1\/invoices: body total .*1000.* \(breaking\)$/,
  },
  {
    name: "totals can be fractions",
    file: invoiceModel,
    text: "total: field.integer({ min: 0, max: 100000 }),",
    replacement: "total: field.decimal({ precision: 8, scale: 2 }),",
    part: "contract",
    failure: /^GET \/api\/v1\/invoices\/\{id\}: 200 total is .*was integer \(breaking\)$/,
  },
];

/** All of them. */
export const PROJECT_HOLES: readonly Hole[] = [...TENANTS, ...PROTECTION, ...ANSWERS, ...CONTRACT];
