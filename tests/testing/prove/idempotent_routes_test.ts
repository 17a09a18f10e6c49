import assert from "node:assert/strict";
import * as v from "valibot";
import { controller, inject, module, route } from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { idempotencyTables, JobsModule, jobTables } from "../../../src/jobs/mod.ts";
import { OAuth2Principal } from "../../../src/oauth2/mod.ts";
import { prove } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

const Order = model("orders", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  item: field.text(),
});
class Db extends DbService.with({ order: Order, ...jobTables, ...idempotencyTables }) {}

const NewOrder = v.object({ item: v.pipe(v.string(), v.maxLength(20), v.regex(/^\w*$/)) });
const OrderRow = v.object({ id: v.number(), item: v.string() });

/** Places orders; with `hasHole`, for any tenant that the query names. */
function ordersModule(hasHole: boolean) {
  class Orders extends controller("orders") {
    readonly #db = inject(Db);
    place = route.post("/", {
      query: v.object({ tenant_id: v.optional(v.pipe(v.string(), v.regex(/^\w+$/))) }),
      body: NewOrder,
      args: { me: OAuth2Principal },
      response: OrderRow,
      status: 201,
      idempotent: true,
    }, async ({ query, body, me }) => {
      const tenant_id = hasHole && query.tenant_id || String(me.claims["tenant_id"]);
      return await this.#db.order.create({ data: { ...body, tenant_id } });
    });
  }
  return module({
    name: "AppModule",
    imports: [
      DbModule.forRoot(Db, DbOptions.fromUrl("sqlite::memory:")),
      JobsModule.forRoot(Db),
    ],
    controllers: [Orders],
  });
}

for (const hasHole of [false, true]) {
  test(`prove() sends each request of an idempotent route with a key of its own${hasHole ? ", and finds its hole" : ""}`, async () => {
    const proof = prove(ordersModule(hasHole), {
      setUp: (app, { verifier }) =>
        app.useOAuth2(verifier).enableOpenApi({ title: "Orders", version: "1" }),
      callers: { ann: { tenant_id: "a" }, bob: { tenant_id: "b" } },
    });
    const report = await proof.run({ requests: 300, seed: 5 });
    const failed = report.parts.filter(({ failures }) => failures.length > 0);
    assert.deepEqual(
      failed.map(({ name }) => name),
      hasHole ? ["tenants"] : [],
      report.toText(),
    );
  });
}
