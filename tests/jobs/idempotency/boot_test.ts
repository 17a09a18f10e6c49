import assert from "node:assert/strict";
import { controller, type ControllerClass, type Module, module, route } from "../../../mod.ts";
import { DbModule, DbOptions, DbService } from "../../../src/db/mod.ts";
import { idempotencyTables, JobsModule, jobTables } from "../../../src/jobs/mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

class Db extends DbService.with({ ...jobTables, ...idempotencyTables }) {}
class Bare extends DbService.with({ ...jobTables }) {}
class Other extends DbService.with({ ...jobTables, ...idempotencyTables }) {}

class Orders extends controller("orders") {
  place = route.post("/", { idempotent: true }, () => "placed");
}
class Lists extends controller("orders") {
  list = route.get("/", { idempotent: true }, () => []);
}
class All extends controller("orders") {
  any = route.all("/", { idempotent: true }, () => []);
}
class Events extends controller("orders") {
  watch = route.post("/", {
    idempotent: true,
    openapi: { responses: { 200: { description: "events", contentType: "text/event-stream" } } },
  }, () => new Response());
}
class Texts extends controller("orders") {
  place = route.post("/", { idempotent: "yes" as never }, () => "placed");
}
class Plain extends controller("orders") {
  place = route.post("/", { idempotent: false }, () => "placed");
}

function modulesOf(...databases: readonly (typeof Db | typeof Bare)[]): readonly Module[] {
  return databases.flatMap((Service) => [
    DbModule.forRoot(Service as typeof Db, DbOptions.fromUrl("sqlite::memory:")),
    JobsModule.forRoot(Service),
  ]);
}

async function boot(type: ControllerClass, imports: readonly Module[]) {
  const AppModule = module({ name: "AppModule", imports, controllers: [type] });
  await using app = await createTestApplication(AppModule);
  return (await app.request("/orders", { method: "POST" })).status;
}

test("boot refuses an idempotent route whose answers nothing stores", async () => {
  for (
    const [type, imports, why] of [
      [Orders, [], "but no module stores its answers; import JobsModule.forRoot(Db)"],
      [Orders, modulesOf(Db, Other), "but several modules store answers"],
      [
        Orders,
        modulesOf(Bare),
        "but Bare lacks the table of keys; add ...idempotencyTables to its models",
      ],
    ] as const
  ) {
    const message = `Cannot mount AppModule.Orders.place: it is idempotent, ${why}`;
    await assert.rejects(boot(type, imports), new TypeError(message));
  }
});

test("boot refuses a route that cannot be idempotent", async () => {
  for (
    const [type, message] of [
      [Lists, "AppModule.Lists.list: it is idempotent, but its method is GET"],
      [All, "AppModule.All.any: it is idempotent, but its method is ALL"],
      [
        Events,
        "AppModule.Events.watch: it is idempotent, but sends events, which are not stored",
      ],
      [Texts, "AppModule.Texts.place: idempotent is not a boolean"],
    ] as const
  ) await assert.rejects(boot(type, modulesOf(Db)), new TypeError(`Cannot mount ${message}`));
});

test("routes that are not idempotent need no store and no key", async () => {
  assert.equal(await boot(Plain, []), 200);
  assert.equal(await boot(Plain, modulesOf(Bare)), 200);
  assert.equal(await boot(Orders, modulesOf(Db)), 400);
});

test("JobsModule.forRoot() refuses options of idempotency that are unknown or out of range", () => {
  for (
    const [idempotency, error] of [
      [{ keepsMs: 1 }, new TypeError("Cannot use idempotency: keepsMs is not an option")],
      [
        { keepMs: 0 },
        new RangeError("Cannot use idempotency: keepMs is not a whole number of 1 or more"),
      ],
      [
        { maxAnswerBytes: 1.5 },
        new RangeError("Cannot use idempotency: maxAnswerBytes is not a whole number of 1 or more"),
      ],
      [{ tenant: "a" }, new TypeError("Cannot use idempotency: tenant is not a function")],
    ] as const
  ) assert.throws(() => JobsModule.forRoot(Db, { idempotency: idempotency as object }), error);
});
