/**
 * A users resource on any database, with validation, pages, tenants, documentation, metrics and a
 * graceful stop. Its OpenAPI document is at `/openapi.json`; try it at `/docs`.
 *
 *     deno run -A examples/users.ts
 *
 * Configured by `PORT` (3000), `HOST` (all interfaces) and `DATABASE_URL` (a SQLite file in the
 * directory for temporary files); `FW_ENV=production` hides the details of 5xx responses, and
 * `development` shows those of unexpected errors. With `OAUTH2_ISSUER`, `OAUTH2_JWKS_URL` and
 * `OAUTH2_AUDIENCE` it verifies ES256 tokens, whose claim `tenant_id` is then the tenant.
 */
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { timeout } from "hono/timeout";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import {
  type Context,
  controller,
  dto,
  environment,
  ForbiddenException,
  type FwApplication,
  FwFactory,
  inject,
  type Module,
  module,
  NotFoundException,
  type OnModuleInit,
  portFromEnv,
  route,
} from "../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../src/db/mod.ts";
import { JwksCache, JwtVerifier, oauth2Identity, ValidationConfig } from "../src/oauth2/mod.ts";

export const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  email: field.text().unique(),
  name: field.text(),
  active: field.boolean().default(true),
});

export class Db extends DbService.with({ user: User }) {}

const Name = v.pipe(v.string(), v.minCodePoints(2), v.maxCodePoints(80));
const WholeNumber = v.pipe(
  v.string(),
  v.regex(/^[+-]?\d+$/, "Expected a whole number"),
  v.transform(Number),
);

export const CreateUserDto = dto(
  "CreateUserDto",
  v.object({ email: v.pipe(v.string(), v.email(), v.maxLength(254)), name: Name }),
);
export const UpdateUserDto = dto(
  "UpdateUserDto",
  v.object({ name: v.optional(Name), active: v.optional(v.boolean()) }),
);
export const UserIdParam = dto(
  "UserIdParam",
  v.object({ id: v.pipe(WholeNumber, v.safeInteger()) }),
);
export const UserRow = dto(
  "UserRow",
  v.object({
    id: v.pipe(v.number(), v.integer()),
    email: v.string(),
    name: v.string(),
    active: v.boolean(),
  }),
);
/** Values out of range are clamped; other values than whole numbers are invalid. */
export const UsersPageQuery = dto(
  "UsersPageQuery",
  v.object({
    skip: v.optional(
      v.pipe(
        WholeNumber,
        v.toMinValue(0),
        v.toMaxValue(Number.MAX_SAFE_INTEGER),
        v.integer(),
        v.description("How many users to leave out; none if it is negative"),
      ),
      "0",
    ),
    take: v.optional(
      v.pipe(
        WholeNumber,
        v.toMinValue(1),
        v.toMaxValue(100),
        v.integer(),
        v.description("How many users to list, 1 to 100"),
      ),
      "20",
    ),
  }),
);

/**
 * Returns the tenant of the caller, which input cannot set: the claim `tenant_id` of a verified token;
 * for callers without a token, which this example admits, a placeholder.
 */
export function tenantId(c: Context): string {
  const identity = oauth2Identity(c);
  if (!identity) return "demo";
  const { tenant_id } = identity.claims;
  if (typeof tenant_id === "string" && tenant_id !== "") return tenant_id;
  throw new ForbiddenException("The token names no tenant");
}

/** Returns the path of the request as it was sent, without a trailing slash. */
function pathOf(c: Context): string {
  return new URL(c.req.url).pathname.replace(/\/$/, "");
}

export class UsersService implements OnModuleInit {
  readonly #db = inject(Db);

  onModuleInit(): Promise<void> {
    return this.#db.createTables();
  }

  create(tenant_id: string, data: v.InferOutput<typeof CreateUserDto>) {
    return this.#of(tenant_id).create({ data });
  }

  async page(tenant_id: string, { skip, take }: v.InferOutput<typeof UsersPageQuery>) {
    const users = this.#of(tenant_id);
    return { rows: await users.findMany({ skip, take }), total: await users.count() };
  }

  async one(tenant_id: string, id: number) {
    return await this.#of(tenant_id).findUnique({ where: { id } }) ??
      NotFoundException.throw("No such user");
  }

  async update(tenant_id: string, id: number, data: v.InferOutput<typeof UpdateUserDto>) {
    const users = this.#of(tenant_id);
    const isOurs = await users.exists({ where: { id } });
    if (!isOurs && await this.#db.user.exists({ where: { id } })) {
      throw new ForbiddenException("The user belongs to another tenant");
    }
    return users.update({ where: { id }, data });
  }

  delete(tenant_id: string, id: number) {
    return this.#of(tenant_id).delete({ where: { id } });
  }

  /** The users of one tenant: the tenant is part of every query, so no other row is read or written. */
  #of(tenant_id: string) {
    return this.#db.user.scoped({ tenant_id });
  }
}

/** The response of every operation to a caller without a tenant. */
const FORBIDDEN = { 403: "The token names no tenant, or the user belongs to another" };

export class UsersController extends controller("users", { version: "v1" }) {
  readonly #users = inject(UsersService);

  create = route.post(
    "/",
    {
      body: CreateUserDto,
      response: UserRow,
      status: 201,
      args: { tenant: tenantId },
      openapi: {
        summary: "Create a user",
        responses: {
          201: { description: "The user", headers: { Location: "The user's path" } },
          ...FORBIDDEN,
          409: "Another user has the e-mail address",
        },
      },
    },
    async ({ body, tenant }, c) => {
      const user = await this.#users.create(tenant, body);
      c.header("Location", `${pathOf(c)}/${user.id}`);
      return user;
    },
  );

  list = route.get(
    "/",
    {
      query: UsersPageQuery,
      response: v.array(UserRow),
      args: { tenant: tenantId },
      openapi: {
        summary: "List users",
        responses: {
          200: {
            description: "A page of users",
            headers: { "X-Total-Count": "The number of all users", Link: "The next page" },
          },
          ...FORBIDDEN,
        },
      },
    },
    async ({ query, tenant }, c) => {
      const { rows, total } = await this.#users.page(tenant, query);
      const next = query.skip + query.take;
      c.header("X-Total-Count", String(total));
      if (next < total) {
        c.header("Link", `<${pathOf(c)}?skip=${next}&take=${query.take}>; rel="next"`);
      }
      return rows;
    },
  );

  one = route.get(
    "/:id",
    {
      params: UserIdParam,
      response: UserRow,
      args: { tenant: tenantId },
      openapi: { summary: "Find a user", responses: FORBIDDEN },
    },
    ({ params, tenant }) => this.#users.one(tenant, params.id),
  );

  update = route.patch(
    "/:id",
    {
      params: UserIdParam,
      body: UpdateUserDto,
      response: UserRow,
      args: { tenant: tenantId },
      openapi: { summary: "Change a user", responses: FORBIDDEN },
    },
    ({ params, body, tenant }) => this.#users.update(tenant, params.id, body),
  );

  delete = route.delete(
    "/:id",
    {
      params: UserIdParam,
      response: UserRow,
      args: { tenant: tenantId },
      openapi: {
        summary: "Delete a user",
        description: "Responds with the deleted user.",
        responses: FORBIDDEN,
      },
    },
    ({ params, tenant }) => this.#users.delete(tenant, params.id),
  );
}

/** The application on a database. */
export function appModule(databaseUrl: string): Module {
  return module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, DbOptions.fromUrl(databaseUrl))],
    providers: [UsersService],
    controllers: [UsersController],
  });
}

/** Configures prefixes, middleware and endpoints. */
export function setUp(app: FwApplication): FwApplication {
  return app
    .setGlobalPrefix("api")
    .enableUriVersioning()
    .useRequestId()
    .useRequestTracing({ skipPaths: ["/health", "/metrics"] })
    .enableMetrics("/metrics")
    .enableHealthCheck("/health", { indicators: { db: () => app.get(Db).ping() } })
    .enableOpenApi({
      title: "Users",
      version: "1.0.0",
      info: { license: { name: "MIT", identifier: "MIT" } },
      documentTags: [{ name: "users", description: "The users of the caller's tenant" }],
      components: {
        securitySchemes: { bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
      },
      inferRouteSecurityFromRoles: true,
    })
    .enableProductionErrorsFromEnv()
    .useRateLimit({ max: 100_000 }) // generous, for trials and load tests
    .use(cors())
    .use(secureHeaders())
    .use(compress())
    .use(timeout(10_000));
}

if (import.meta.main) {
  const { HOST, DATABASE_URL, ...oauth2 } = environment(v.object({
    HOST: v.optional(v.string()),
    DATABASE_URL: v.optional(v.string()),
    OAUTH2_ISSUER: v.optional(v.string()),
    OAUTH2_JWKS_URL: v.optional(v.string()),
    OAUTH2_AUDIENCE: v.optional(v.string()),
  }));
  const app = setUp(await FwFactory.create(appModule(DATABASE_URL ?? ownDatabase())));
  const { OAUTH2_ISSUER: issuer, OAUTH2_JWKS_URL: jwksUrl, OAUTH2_AUDIENCE: audience } = oauth2;
  if (issuer && jwksUrl && audience) {
    const config = new ValidationConfig("ES256").withIssuer(issuer).withAudience(audience);
    app.useOAuth2(new JwtVerifier(new JwksCache(jwksUrl), config), { require: true });
  } else if (Object.keys(oauth2).length > 0) {
    throw new TypeError("Set all of OAUTH2_ISSUER, OAUTH2_JWKS_URL and OAUTH2_AUDIENCE, or none");
  }
  const server = await app.listenGraceful(portFromEnv(), HOST ? { hostname: HOST } : {});
  const users = `${server.url}/api/v1/users/`;
  console.log(`Try:
  curl ${users}
  curl ${users} --json '{"email":"tom@example.com","name":"Tom"}'
  curl -X PATCH ${users}ID --json '{"active":false}'
  curl -X DELETE ${users}ID
  curl ${server.url}/health
  curl ${server.url}/metrics
and open ${server.url}/docs in a browser`);
}

/** Returns the URL of a SQLite file in a new folder for temporary files. */
function ownDatabase(): string {
  const directory = join(tmpdir(), "fw-example-users");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return `sqlite:${join(directory, "users.sqlite")}`;
}
