/**
 * Every kind of response, by every method and status, with guards, filters and interceptors.
 *
 * @module
 */
import * as v from "valibot";
import {
  ConflictException,
  type Context,
  controller,
  dto,
  type ExceptionFilter,
  inject,
  type Module,
  module,
  route,
} from "../../../mod.ts";
import { DbModule, DbOptions, DbService } from "../../../src/db/mod.ts";
import { idempotencyTables, JobsModule, jobTables } from "../../../src/jobs/mod.ts";
import { OAuth2Guard, OAuth2Principal } from "../../../src/oauth2/mod.ts";

const Done = v.object({ done: v.boolean() });
const done = () => ({ done: true });

/** Every status that a route may declare. */
class StatusesController extends controller("answers/statuses", { tag: "statuses" }) {
  ok = route.post("/200", { response: Done, status: 200 }, done);
  created = route.post("/201", { response: Done, status: 201 }, done);
  accepted = route.post("/202", { response: Done, status: 202 }, done);
  nonAuthoritative = route.get("/203", { response: Done, status: 203 }, done);
  noContent = route.delete("/204", { status: 204 }, () => undefined);
  partialContent = route.get("/206", { response: Done, status: 206 }, done);
  multiStatus = route.put("/207", { response: v.array(Done), status: 207 }, () => [done()]);
  alreadyReported = route.get("/208", { response: Done, status: 208 }, done);
  imUsed = route.get("/226", { response: Done, status: 226 }, done);
}

const Left = dto("Left", v.object({ left: v.pipe(v.number(), v.integer()) }));

class OutOfStock extends Error {}

/** Answers when a product is out of stock. */
class OutOfStockFilter implements ExceptionFilter {
  catch(error: unknown, c: Context): Response | undefined {
    return error instanceof OutOfStock ? c.json({ left: 0 }, 409) : undefined;
  }
}

/** The descriptions of routes, and every method. */
class MethodsController
  extends controller("answers/methods", { version: "v2", filters: [OutOfStockFilter] }) {
  listed = route.get(
    "/listed/:which",
    {
      openapi: {
        summary: "Answer by what is asked for",
        description: "With **more** than\n\none line.",
        tag: "listed",
        operationId: "answerByWhich",
        responses: {
          101: { description: "A WebSocket", receives: Left, sends: Left },
          200: { description: "A text", contentType: "text/plain" },
          203: "Nothing is known of its body",
          302: "To the text",
          409: { description: "Nothing is left", schema: Left },
          410: "It is gone",
          503: "Come back later",
        },
      },
    },
    ({ params: { which } }, c) => {
      if (which === "302") return c.redirect("text");
      if (which === "409") throw new OutOfStock();
      if (which === "203") return c.body("so they say", 203);
      return c.text(which, 200); // with a status, as Bun has no media type before it is sent otherwise
    },
  );

  clash = route.post(
    "/clash",
    {
      response: Left,
      filters: [(error, c) => {
        if (error instanceof ConflictException) c.header("retry-after", "1");
      }],
      openapi: { responses: { 409: "Somebody was faster" } },
    },
    (_, c) => c.req.query("fast") ? { left: 1 } : ConflictException.throw("Too late"),
  );

  look = route.get(
    "/one",
    { response: Left, interceptors: [(_, next) => next()] },
    () => ({ left: 3 }),
  );
  peek = route.head("/one", { response: Left }, () => ({ left: 3 }));
  ask = route.options("/one", { status: 204 }, (_, c) => c.body(null, 204, { allow: "GET" }));
  rest = route.all("/one", { response: v.object({ method: v.string() }) }, (_, c) => ({
    method: c.req.method,
  }));

  old = route.get(
    "/old",
    { response: Left, openapi: { deprecated: true } },
    () => ({ left: 2 }),
  );
  sunset = route.get(
    "/sunset",
    {
      version: "v3",
      response: Left,
      openapi: {
        deprecated: {
          since: new Date("2025-01-02T03:04:05Z"),
          sunset: "2035-01-02T03:04:05Z",
          link: "https://docs.example.org/moving?from=sunset",
        },
      },
    },
    () => ({ left: 1 }),
  );

  hidden = route.get("/hidden", { openapi: { hidden: true } }, () => "out of sight");
}

/** Protection by its controller. */
class StaffController extends controller("answers/staff", { roles: ["staff"] }) {
  room = route.get("/room", { response: Done }, done);
  office = route.get("/office", { roles: ["boss"], response: Done }, done);
  door = route.get("/door", { public: true, response: Done }, done);
}

/** Openness by its controller, and guards of it. */
class LobbyController extends controller("answers/lobby", { public: true }) {
  desk = route.get("/desk", { response: Done }, done);
  locked = route.get("/locked", { public: false, response: Done }, done);
}
class VaultController extends controller("answers/vault", {
  guards: [OAuth2Guard, (c: Context) => c.req.header("x-caller") !== "mallory"],
  scopes: ["vault"],
}) {
  gold = route.put("/gold", { args: { me: OAuth2Principal }, response: Done }, done);
}

class KeysDb extends DbService.with({ ...jobTables, ...idempotencyTables }) {}
class KeysTables {
  readonly #db = inject(KeysDb);
  async onModuleInit(): Promise<void> {
    await this.#db.createTables();
  }
}

/** Answers that are stored. */
class StoredController extends controller("answers/stored") {
  once = route.post("/once", { response: Done, idempotent: true }, done);
}

export const AnswersModule: Module = module({
  name: "AnswersModule",
  imports: [
    DbModule.forRoot(KeysDb, DbOptions.fromUrl("sqlite::memory:")),
    JobsModule.forRoot(KeysDb),
  ],
  providers: [KeysTables],
  controllers: [
    StatusesController,
    MethodsController,
    StaffController,
    LobbyController,
    VaultController,
    StoredController,
  ],
});
