/**
 * An application at the edge, where the runtime calls the exported `fetch`: notes of the callers with a
 * token, in a database of a Kysely dialect.
 *
 * On Cloudflare Workers, the bindings are its environment, and `DB` is a D1 database. Elsewhere, it uses the
 * environment of the process, and SQLite in memory:
 *
 *     export OAUTH2_ISSUER=https://id.example.com OAUTH2_AUDIENCE=https://notes.example.com
 *     export OAUTH2_JWKS_URL=https://id.example.com/jwks
 *     deno serve -A examples/edge.ts
 */
import type { ExecutionContext } from "hono";
import { D1Dialect, type D1DialectConfig } from "kysely-d1";
import process from "node:process";
import * as v from "valibot";
import {
  controller,
  dto,
  environment,
  type FwApplication,
  FwFactory,
  inject,
  type Module,
  module,
  NotFoundException,
  type OnModuleInit,
  route,
} from "../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../src/db/mod.ts";
import {
  JwksCache,
  JwtVerifier,
  OAuth2Principal,
  type TokenVerifier,
  ValidationConfig,
} from "../src/oauth2/mod.ts";

const Note = model("notes", {
  id: field.integer().primaryKey(),
  owner: field.text(),
  text: field.text(),
  noted_at: field.timestamp().default(() => new Date()),
});
class Db extends DbService.with({ note: Note }) {}

/** How many of the newest notes of an owner are kept. */
const KEPT_NOTES = 20;

const NewNote = dto(
  "NewNote",
  v.object({ text: v.pipe(v.string(), v.minCodePoints(1), v.maxCodePoints(1000)) }),
);
const NoteRow = dto(
  "Note",
  v.object({ id: v.number(), text: v.string(), noted_at: v.date() }),
);
const Id = v.pipe(
  v.string(),
  v.digits(),
  v.toNumber(),
  v.integer(),
  v.minValue(1),
  v.maxValue(Number.MAX_SAFE_INTEGER),
);
const NoteId = dto("NoteId", v.object({ id: Id }));

class NotesService implements OnModuleInit {
  readonly #db = inject(Db);

  onModuleInit(): Promise<void> {
    return this.#db.createTables(); // in production: `wrangler d1 migrations apply`
  }

  of(owner: string) {
    return this.#db.note.scoped({ owner });
  }

  async forgetOldest(owner: string): Promise<void> {
    const orderBy = { id: "desc" } as const;
    const [oldest] = await this.of(owner).findMany({ orderBy, skip: KEPT_NOTES, take: 1 });
    if (oldest) await this.of(owner).deleteMany({ where: { id: { lte: oldest.id } } });
  }
}

class NotesController extends controller("notes", { version: "v1" }) {
  readonly #notes = inject(NotesService);

  list = route.get(
    "/",
    { args: { me: OAuth2Principal }, response: v.array(NoteRow) },
    ({ me }) => this.#notes.of(me.subject).findMany({ orderBy: { id: "desc" }, take: 20 }),
  );

  add = route.post(
    "/",
    { args: { me: OAuth2Principal }, body: NewNote, response: NoteRow, status: 201 },
    async ({ me, body }, c) => {
      const note = await this.#notes.of(me.subject).create({ data: body });
      c.executionCtx.waitUntil(this.#notes.forgetOldest(me.subject)); // the caller does not wait for it
      return note;
    },
  );

  one = route.get(
    "/:id",
    { args: { me: OAuth2Principal }, params: NoteId, response: NoteRow },
    async ({ me, params }) =>
      await this.#notes.of(me.subject).findUnique({ where: params }) ??
        NotFoundException.throw("No such note"),
  );
}

/** Returns the root module on a database. */
export function appModule(database: DbOptions): Module {
  return module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, database)],
    providers: [NotesService],
    controllers: [NotesController],
  });
}

/** Configures prefixes, middleware and endpoints; every route requires a token. */
export function setUp(app: FwApplication, tokens: TokenVerifier): FwApplication {
  return app
    .setGlobalPrefix("api")
    .enableUriVersioning()
    .useRequestId()
    .useRequestTracing({ skipPaths: ["/health"] })
    .enableHealthCheck("/health", { indicators: { db: () => app.get(Db).ping() } })
    .enableOpenApi({
      title: "Notes",
      version: "1.0.0",
      info: { license: { name: "MIT", identifier: "MIT" } },
      components: {
        securitySchemes: { bearerAuth: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
      },
      inferRouteSecurityFromRoles: true,
    })
    .enableProductionErrors()
    .useOAuth2(tokens, { require: true });
}

const Url = v.pipe(v.string(), v.url());
const Settings = v.object({
  OAUTH2_ISSUER: Url,
  OAUTH2_JWKS_URL: Url,
  OAUTH2_AUDIENCE: v.string(),
});

/** The bindings of a Worker, beside the settings. */
interface Bindings extends Readonly<Record<string, unknown>> {
  readonly DB?: D1DialectConfig["database"];
}

async function start({ DB: database, ...settings }: Bindings): Promise<FwApplication> {
  const source = database ? settings : process.env;
  const { OAUTH2_ISSUER, OAUTH2_JWKS_URL, OAUTH2_AUDIENCE } = environment(Settings, { source });
  const config = new ValidationConfig("ES256")
    .withIssuer(OAUTH2_ISSUER)
    .withAudience(OAUTH2_AUDIENCE);
  const options = database
    ? DbOptions.fromDialect(new D1Dialect({ database }))
    : DbOptions.fromUrl("sqlite::memory:");
  const app = await FwFactory.create(appModule(options));
  return await setUp(app, new JwtVerifier(new JwksCache(OAUTH2_JWKS_URL), config)).ready();
}

let app: FwApplication | undefined;

export default {
  /** Answers a request. The first one creates the application: on Workers, only requests may do I/O. */
  async fetch(
    request: Request,
    bindings: Bindings,
    context?: ExecutionContext,
  ): Promise<Response> {
    if (!app) {
      // each of the first requests starts one, as a shared promise may be cancelled with its request
      const started = await start(bindings);
      app ??= started;
      if (app !== started) await started.close();
    }
    return await app.fetch(request, bindings, context);
  },
};
