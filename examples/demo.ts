/**
 * A short tour of the data layer on any database: a health check, and users with their posts.
 *
 *     deno run -A examples/demo.ts
 *     DATABASE_URL=postgresql://postgres@127.0.0.1:5432/postgres deno run -A examples/demo.ts
 *
 * Configured by `PORT` (3000), `HOST` (all interfaces) and `DATABASE_URL` (SQLite in memory).
 */
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
  type OnModuleInit,
  portFromEnv,
  route,
} from "../mod.ts";
import { belongsTo, DbModule, DbOptions, DbService, field, hasMany, model } from "../src/db/mod.ts";

export const User = model("demo_users", {
  id: field.integer().primaryKey(),
  email: field.text().unique(),
  name: field.text(),
  joined_at: field.timestamp().default(() => new Date()),
});
export const Post = model("demo_posts", {
  id: field.uuid().primaryKey().default(() => crypto.randomUUID()),
  author_id: field.integer().references(User, { onDelete: "cascade" }),
  title: field.text(),
});

export class Db extends DbService.with({ user: User, post: Post }, {
  user: { posts: hasMany(Post.author_id) },
  post: { author: belongsTo(Post.author_id) },
}) {}

const UserWithPosts = dto(
  "UserWithPosts",
  v.object({
    id: v.pipe(v.number(), v.integer()),
    email: v.string(),
    name: v.string(),
    posts: v.array(v.object({ title: v.string() })),
  }),
);
const Status = dto("Status", v.object({ status: v.picklist(["up", "down"]) }));

export class DemoService implements OnModuleInit {
  readonly #db = inject(Db);

  /** Creates the rows of the example, in one transaction; a second start creates no others. */
  async onModuleInit(): Promise<void> {
    await this.#db.createTables();
    await this.#db.transaction(async () => {
      const ada = { email: "ada@example.com", name: "Ada" };
      const { id } = await this.#db.user.upsert({
        where: { email: ada.email },
        create: ada,
        update: { name: ada.name },
      });
      if (await this.#db.post.exists({ where: { author_id: id } })) return;
      await this.#db.post.createMany({
        data: ["Notes", "Sketch"].map((title) => ({ author_id: id, title })),
      });
    }, { retries: 3 });
  }

  ping(): Promise<void> {
    return this.#db.ping();
  }

  users() {
    return this.#db.user.findMany({
      take: 20,
      select: { id: true, email: true, name: true },
      include: { posts: { orderBy: { title: "asc" }, take: 3 } },
    });
  }
}

export class DemoController extends controller("demo", { version: "v1" }) {
  readonly #demo = inject(DemoService);

  dbHealth = route.get(
    "/db-health",
    {
      openapi: {
        summary: "Check whether the database answers",
        responses: {
          200: { description: "It answers", schema: Status },
          503: { description: "It does not answer", schema: Status },
        },
      },
    },
    (_input, c) =>
      this.#demo.ping().then(
        () => c.json({ status: "up" }),
        () => c.json({ status: "down" }, 503),
      ),
  );

  usersDb = route.get(
    "/users-db",
    { response: v.array(UserWithPosts), openapi: { summary: "List users with their posts" } },
    () => this.#demo.users(),
  );
}

/** The application on a database. */
export function appModule(databaseUrl: string): Module {
  const options = DbOptions.fromUrl(databaseUrl).acquireTimeoutMs(2000);
  return module({
    name: "AppModule",
    imports: [DbModule.forRoot(Db, options)],
    providers: [DemoService],
    controllers: [DemoController],
  });
}

/** Configures prefixes and errors. */
export function setUp(app: FwApplication): FwApplication {
  return app.setGlobalPrefix("api").enableUriVersioning().useRequestId()
    .enableProductionErrorsFromEnv();
}

if (import.meta.main) {
  const { HOST, DATABASE_URL } = environment(
    v.object({ HOST: v.optional(v.string()), DATABASE_URL: v.optional(v.string()) }),
  );
  const app = setUp(await FwFactory.create(appModule(DATABASE_URL ?? "sqlite::memory:")));
  const server = await app.listenGraceful(portFromEnv(), HOST ? { hostname: HOST } : {});
  console.log(`Try:
  curl ${server.url}/api/v1/demo/db-health
  curl ${server.url}/api/v1/demo/users-db`);
}
