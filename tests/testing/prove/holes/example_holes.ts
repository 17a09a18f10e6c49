/** Holes in the examples. */
import type { Hole } from "./hole.ts";

const users = "users.ts";

/** Those in the example of users. */
export const USERS_HOLES: readonly Hole[] = [
  {
    name: "a user of any tenant is found",
    file: users,
    text: "await this.#of(tenant_id).findUnique({ where: { id } })",
    replacement: "await this.#db.user.findUnique({ where: { id } })",
    part: "tenants",
    failure: /^GET \/api\/v1\/users\/:id: gives bob a row of ann$/,
    isTelling: true,
  },
  {
    name: "the list has users of all tenants",
    file: users,
    text: "rows: await users.findMany({ skip, take })",
    replacement: "rows: await this.#db.user.findMany({ skip, take })",
    part: "tenants",
    failure: /^GET \/api\/v1\/users: gives bob a row of ann$/,
  },
  {
    name: "users of all tenants are counted",
    file: users,
    text: "total: await users.count()",
    replacement: "total: await this.#db.user.count()",
    part: "tenants",
    failure:
      /^GET \/api\/v1\/users: the answer to bob depends on rows of ann: its header x-total-count/,
  },
  {
    name: "a user of another tenant is changed",
    file: users,
    text: 'throw new ForbiddenException("The user belongs to another tenant");',
    replacement: "return this.#db.user.update({ where: { id }, data });",
    part: "tenants",
    failure: /^PATCH \/api\/v1\/users\/:id: bob changes a row of ann \(users\)/,
  },
  {
    name: "a user of another tenant is deleted",
    file: users,
    text: "return this.#of(tenant_id).delete({ where: { id } });",
    replacement: "return this.#db.user.delete({ where: { id } });",
    part: "tenants",
    failure: /^DELETE \/api\/v1\/users\/:id: bob deletes a row of ann \(users\)/,
  },
  {
    name: "a refusal has the name of a user of another tenant",
    file: users,
    text: 'throw new ForbiddenException("The user belongs to another tenant");',
    replacement: `const user = await this.#db.user.findUnique({ where: { id } });
      throw new ForbiddenException(\`\${user?.name} belongs to another tenant\`);`,
    part: "tenants",
    failure: /^PATCH \/api\/v1\/users\/:id: the 403 to bob has a value of a row of ann$/,
  },
  {
    name: "a refusal reveals that a user exists",
    file: users,
    text: 'NotFoundException.throw("No such user");',
    replacement: `(await this.#db.user.exists({ where: { id } })
        ? ForbiddenException.throw("The user belongs to another tenant")
        : NotFoundException.throw("No such user"));`,
    part: "tenants",
    failure:
      /^GET \/api\/v1\/users\/:id: answers bob 403 if a row is ann's, and 404 if there is none/,
  },
  {
    name: "the query selects the tenant",
    file: users,
    text: "const { tenant_id } = identity.claims;",
    replacement: 'const tenant_id = c.req.query("tenant_id") ?? identity.claims["tenant_id"];',
    part: "tenants",
    failure: /^GET \/api\/v1\/users: gives bob a row of ann$/,
  },
  {
    name: "a header selects the tenant",
    file: users,
    text: "const { tenant_id } = identity.claims;",
    replacement: 'const tenant_id = c.req.header("x-tenant-id") ?? identity.claims["tenant_id"];',
    part: "tenants",
    failure: /^GET \/api\/v1\/users: gives bob a row of ann$/,
  },
  {
    name: "the order of a list depends on users of all tenants",
    file: users,
    text: "return { rows: await users.findMany({ skip, take }),",
    replacement: `const all = await this.#db.user.count();
    const orderBy = { id: all > 8 ? "asc" : "desc" } as const;
    return { rows: await users.findMany({ skip, take, orderBy: all > 4 ? orderBy : [] }),`,
    part: "tenants",
    failure: /^GET \/api\/v1\/users: the answer to bob depends on rows of ann/,
  },
  {
    name: "a create takes over a user of another tenant",
    file: users,
    text: "return this.#of(tenant_id).create({ data });",
    replacement: `const { email, name } = data;
    const create = { email, name, tenant_id };
    return this.#db.user.upsert({ where: { email }, create, update: { name } });`,
    part: "tenants",
    failure: /^POST \/api\/v1\/users: bob changes a row of ann \(users\)/,
  },
  {
    name: "callers without a tenant have that of others",
    file: users,
    text: 'throw new ForbiddenException("The token names no tenant");',
    replacement: 'return "a";',
    part: "roles",
    failure: /^GET \/api\/v1\/users: root: allowed, and prove\.json has 403/,
  },
  {
    name: "the list is public",
    file: users,
    text: "query: UsersPageQuery,\n      response",
    replacement: "query: UsersPageQuery,\n      public: true,\n      response",
    part: "roles",
    failure: /^GET \/api\/v1\/users: anonymous: allowed, and prove\.json has 401/,
    isTelling: true,
  },
  {
    name: "all routes are public",
    file: users,
    text: 'controller("users", { version: "v1" })',
    replacement: 'controller("users", { version: "v1", public: true })',
    part: "roles",
    failure: /^DELETE \/api\/v1\/users\/:id: anonymous: allowed, and prove\.json has 401/,
  },
  {
    name: "only administrators list users",
    file: users,
    text: "query: UsersPageQuery,\n      response",
    replacement: 'query: UsersPageQuery,\n      roles: ["admin"],\n      response',
    part: "roles",
    failure: /^GET \/api\/v1\/users: ann: 403, and prove\.json has allowed/,
  },
  {
    name: "a route is gone",
    file: users,
    text: 'delete = route.delete(\n    "/:id"',
    replacement: 'delete = route.delete(\n    "/:id/gone"',
    part: "roles",
    failure: /^DELETE \/api\/v1\/users\/:id: ann: no such route or caller, which prove\.json has/,
  },
  {
    name: "a user is sent with its tenant",
    file: users,
    text: "({ params, tenant }) => this.#users.one(tenant, params.id),",
    replacement:
      "async ({ params, tenant }, c) => c.json(await this.#users.one(tenant, params.id)),",
    part: "document",
    failure:
      /^GET \/api\/v1\/users\/\{id\}: the body of 200 has tenant_id, which is not documented$/,
    isTelling: true,
  },
  {
    name: "users are listed with their tenant",
    file: users,
    text: "return rows;",
    replacement: "return c.json(rows);",
    part: "document",
    failure: /^GET \/api\/v1\/users: the body of 200 has \[\]\.tenant_id, which is not documented$/,
  },
  {
    name: "a list is text",
    file: users,
    text: "return rows;",
    replacement: "return c.text(JSON.stringify(rows));",
    part: "document",
    failure: /^GET \/api\/v1\/users: 200 has text\/plain, which is not documented$/,
  },
  {
    name: "a list is an object",
    file: users,
    text: "return rows;",
    replacement: "return c.json({ rows: [] });",
    part: "document",
    failure: /^GET \/api\/v1\/users: the body of 200 violates its schema$/,
  },
  {
    name: "a created user is answered with 202",
    file: users,
    text: "return user;",
    replacement: "return c.json({ ...user, tenant_id: undefined }, 202);",
    part: "document",
    failure: /^POST \/api\/v1\/users: status 202 is not documented$/,
  },
  {
    name: "a created user has no Location",
    file: users,
    text: 'c.header("Location", `${pathOf(c)}/${user.id}`);',
    replacement: "",
    part: "document",
    failure: /^POST \/api\/v1\/users 201 Location: is not sent/,
  },
  {
    name: "a list has no number of all users",
    file: users,
    text: 'c.header("X-Total-Count", String(total));',
    replacement: "",
    part: "document",
    failure: /^GET \/api\/v1\/users 200 X-Total-Count: is not sent/,
  },
  {
    name: "a name that is not JSON is a failure",
    file: users,
    text: "const user = await this.#users.create(tenant, body);",
    replacement: `JSON.parse(\`"\${body.name}"\`);
      const user = await this.#users.create(tenant, body);`,
    part: "document",
    failure: /^POST \/api\/v1\/users: the server has failed with 500$/,
  },
  {
    name: "a refusal has a stack",
    file: users,
    text: 'NotFoundException.throw("No such user")',
    replacement: 'NotFoundException.throw(new Error("No such user").stack)',
    part: "document",
    failure: /^GET \/api\/v1\/users\/\{id\}: the answer 404 contains a stack$/,
  },
  {
    name: "callers without a tenant find nothing",
    file: users,
    text: 'throw new ForbiddenException("The token names no tenant");',
    replacement: 'throw new NotFoundException("The token names no tenant");',
    part: "document",
    failure: /^GET \/api\/v1\/users: status 404 is not documented$/,
  },
  {
    name: "a user who does not exist is answered",
    file: users,
    text: 'NotFoundException.throw("No such user");',
    replacement: '{ id, tenant_id, email: "", name: "", active: false };',
    part: "document",
    failure: /^GET \/api\/v1\/users\/\{id\} 404: is not reached/,
  },
  {
    name: "invalid requests are accepted",
    file: users,
    text: 'controller("users", { version: "v1" })',
    replacement: `controller("users", {
  version: "v1",
  filters: [() => new Response(null, { status: 204 })],
})`,
    part: "document",
    failure: /^(?:POST|PATCH|GET) .*: status 204 is not documented$/,
  },
  {
    name: "a response loses a member",
    file: users,
    text: "    name: v.string(),\n    active: v.boolean(),\n",
    replacement: "    name: v.string(),\n",
    part: "contract",
    failure: /^GET \/api\/v1\/users\/\{id\}: 200 lost "active" \(breaking\)$/,
    isTelling: true,
  },
  {
    name: "a shorter name is demanded",
    file: users,
    text: "v.maxCodePoints(80)",
    replacement: "v.maxCodePoints(40)",
    part: "contract",
    failure: /^POST \/api\/v1\/users: body name .*40.* \(breaking\)$/,
  },
  {
    name: "an address can be missing",
    file: users,
    text: "email: v.string(),",
    replacement: "email: v.nullable(v.string()),",
    part: "contract",
    failure: /^GET \/api\/v1\/users: 200\[\]\.email is .*null.* \(breaking\)$/,
  },
  {
    name: "an id can be a fraction",
    file: users,
    text: "id: v.pipe(v.number(), v.integer()),",
    replacement: "id: v.number(),",
    part: "contract",
    failure: /^GET \/api\/v1\/users\/\{id\}: 200 id is number, was integer \(breaking\)$/,
  },
  {
    name: "an operation is removed",
    file: users,
    text: 'one = route.get(\n    "/:id"',
    replacement: 'one = route.get(\n    "/:id/details"',
    part: "contract",
    failure: /^GET \/api\/v1\/users\/\{id\}: is removed \(breaking\)$/,
  },
  {
    name: "the version of an API ends",
    file: users,
    text: 'controller("users", { version: "v1" })',
    replacement: 'controller("users", { version: "v2" })',
    part: "contract",
    failure: /^POST \/api\/v1\/users: is removed \(breaking\)$/,
  },
  {
    name: "what users could change cannot be changed",
    file: users,
    text: "v.object({ name: v.optional(Name), active: v.optional(v.boolean()) })",
    replacement: "v.object({ name: v.optional(Name) })",
    part: "contract",
    failure: /^PATCH \/api\/v1\/users\/\{id\}: body lost "active" \(breaking\)$/,
  },
  {
    name: "a change needs a name",
    file: users,
    text: "v.object({ name: v.optional(Name), active",
    replacement: "v.object({ name: Name, active",
    part: "contract",
    failure: /^PATCH \/api\/v1\/users\/\{id\}: body requires "name" \(breaking\)$/,
  },
  {
    name: "other members of a body are refused",
    file: users,
    text: "v.object({ email: v.pipe(v.string(), v.email()",
    replacement: "v.strictObject({ email: v.pipe(v.string(), v.email()",
    part: "contract",
    failure: /^POST \/api\/v1\/users: body no longer allows other members \(breaking\)$/,
  },
];

const edge = "edge.ts";

/** Those in the example of notes. */
export const EDGE_HOLES: readonly Hole[] = [
  {
    name: "the query selects the owner of a list",
    file: edge,
    text: "({ me }) => this.#notes.of(me.subject).findMany(",
    replacement: '({ me }, c) => this.#notes.of(c.req.query("owner") ?? me.subject).findMany(',
    part: "tenants",
    failure: /^GET \/api\/v1\/notes: gives bob a row of ann$/,
  },
  {
    name: "a note is sent with its owner",
    file: edge,
    text:
      'async ({ me, params }) =>\n      await this.#notes.of(me.subject).findUnique({ where: params }) ??\n        NotFoundException.throw("No such note"),',
    replacement: `async ({ me, params }, c) =>
      c.json(
        await this.#notes.of(me.subject).findUnique({ where: params }) ??
          NotFoundException.throw("No such note"),
      ),`,
    part: "document",
    failure: /^GET \/api\/v1\/notes\/\{id\}: the body of 200 has owner, which is not documented$/,
  },
  {
    name: "a note that does not exist is answered",
    file: edge,
    text: 'NotFoundException.throw("No such note")',
    replacement: '({ ...params, owner: "", text: "", noted_at: new Date(0) })',
    part: "document",
    failure: /^GET \/api\/v1\/notes\/\{id\} 404: is not reached/,
  },
  {
    name: "a long text is a failure",
    file: edge,
    text: ".create({ data: body });",
    replacement:
      '.create({ data: { text: body.text.normalize(body.text.length > 9 ? "X" : "NFC") } });',
    part: "document",
    failure: /^POST \/api\/v1\/notes: the server has failed with 500$/,
  },
  {
    name: "a new note is answered with 200",
    file: edge,
    text: "return note;",
    replacement: "return c.json({ id: note.id, text: note.text, noted_at: note.noted_at });",
    part: "document",
    failure: /^POST \/api\/v1\/notes: status 200 is not documented$/,
  },
  {
    name: "notes need a scope",
    file: edge,
    text: "body: NewNote,",
    replacement: 'body: NewNote, scopes: ["notes:write"],',
    part: "roles",
    failure: /^POST \/api\/v1\/notes: ann: 403, and prove\.json has allowed/,
  },
  {
    name: "guards refuse the owners of notes",
    file: edge,
    text: "{ args: { me: OAuth2Principal }, params: NoteId,",
    replacement: "{ guards: [() => false], args: { me: OAuth2Principal }, params: NoteId,",
    part: "roles",
    failure: /^GET \/api\/v1\/notes\/:id: ann: 403, and prove\.json has allowed/,
  },
  {
    name: "a text is shorter",
    file: edge,
    text: "v.maxCodePoints(1000)",
    replacement: "v.maxCodePoints(500)",
    part: "contract",
    failure: /^POST \/api\/v1\/notes: body text .*500.* \(breaking\)$/,
  },
  {
    name: "a note loses its time",
    file: edge,
    text: "text: v.string(), noted_at: v.date()",
    replacement: "text: v.string()",
    part: "contract",
    failure: /^GET \/api\/v1\/notes\/\{id\}: 200 lost "noted_at" \(breaking\)$/,
  },
  {
    name: "notes need a scope in the document",
    file: edge,
    text: 'controller("notes", { version: "v1" })',
    replacement: 'controller("notes", { version: "v1", roles: ["writer"] })',
    part: "roles",
    failure: /^GET \/api\/v1\/notes: bob: 403, and prove\.json has allowed/,
  },
];

const demo = "demo.ts";

/** Those in the tour of the data layer. */
export const DEMO_HOLES: readonly Hole[] = [
  {
    name: "a state is another word",
    file: demo,
    text: '() => c.json({ status: "up" }),',
    replacement: '() => c.json({ status: "ok" }),',
    part: "document",
    failure: /^GET \/api\/v1\/demo\/db-health: the body of 200 violates its schema$/,
  },
  {
    name: "posts are sent as they are stored",
    file: demo,
    text: "() => this.#demo.users(),",
    replacement: "async (_, c) => c.json(await this.#demo.users()),",
    part: "document",
    failure:
      /^GET \/api\/v1\/demo\/users-db: the body of 200 has \[\]\.posts\[\]\.(?:id|author_id), which/,
  },
  {
    name: "a state is new",
    file: demo,
    text: 'v.picklist(["up", "down"])',
    replacement: 'v.picklist(["up", "down", "slow"])',
    part: "contract",
    failure: /^GET \/api\/v1\/demo\/db-health: 200 status newly allows "slow" \(breaking\)$/,
  },
  {
    name: "a state needs a token",
    file: demo,
    text: 'controller("demo", { version: "v1" })',
    replacement: 'controller("demo", { version: "v1", guards: [() => false] })',
    part: "roles",
    failure: /^GET \/api\/v1\/demo\/db-health: anonymous: 403, and prove\.json has allowed/,
  },
];
