/** Schemas of models in routes: what a document describes, and what is sent. */
import assert from "node:assert/strict";
import * as v from "valibot";
import {
  controller,
  dto,
  inject,
  module,
  NotFoundException,
  provide,
  route,
} from "../../../mod.ts";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import {
  createSchemaOf,
  keySchemaOf,
  schemaOf,
  updateSchemaOf,
} from "../../../src/db/schemas/mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

const Offer = model("offers", {
  id: field.bigint().primaryKey(),
  title: field.text({ min: 2, max: 80 }),
  email: field.text().email().nullable(),
  seats: field.integer({ min: 0, max: 500 }).default(1),
  price: field.decimal({ precision: 12, scale: 2, min: "0" }),
  opens: field.time().nullable(),
  begins: field.timestamp(),
  day: field.date().nullable(),
  code: field.uuid().nullable(),
  image: field.blob().nullable(),
  tags: field.text({ max: 20 }).array().default([]),
  size: field.json(v.object({ width: v.number() })).nullable(),
  state: field.enum(["draft", "sent"]).default("draft"),
  secret: field.text().default("s"),
  created: field.createdAt(),
});
class Db extends DbService.with({ offer: Offer }) {}

const OfferRow = dto("OfferRow", schemaOf(Offer, { omit: ["secret", "created"] }));
const CreateOffer = dto("CreateOffer", createSchemaOf(Offer, { omit: ["secret"] }));
const UpdateOffer = dto("UpdateOffer", updateSchemaOf(Offer, { pick: ["title", "seats"] }));
const OfferKey = keySchemaOf(Offer);

class OffersController extends controller("offers") {
  readonly #offers = inject(Db).offer;
  create = route.post(
    "/",
    { body: CreateOffer, response: OfferRow, status: 201 },
    ({ body }) => this.#offers.create({ data: body }),
  );
  one = route.get(
    "/:id",
    { params: OfferKey, response: OfferRow },
    async ({ params }) =>
      await this.#offers.findUnique({ where: params }) ?? NotFoundException.throw("No such offer"),
  );
  update = route.patch("/:id", { params: OfferKey, body: UpdateOffer, response: OfferRow }, (
    { params, body },
  ) => this.#offers.update({ where: params, data: body }));
}
const OffersModule = module({
  providers: [provide(Db, async () => {
    const db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
    await db.createTables();
    return db;
  })],
  controllers: [OffersController],
});

const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
const object = (properties: object, required: readonly string[]) => ({
  type: "object",
  properties,
  required,
});

test("a document describes the schemas of a model by its fields and their rules", async () => {
  await using app = await createTestApplication(OffersModule, {
    setUp: (app) => app.enableOpenApi({ title: "Offers", version: "1" }),
  });
  const { components: { schemas }, paths } = await (await app.request("/openapi.json")).json();
  const STRING = { type: "string" };
  const title = { ...STRING, minLength: 2, maxLength: 80 };
  const seats = { type: "integer", minimum: 0, maximum: 500 };
  const price = { ...STRING, pattern: "^-?\\d+(?:\\.\\d+)?$" };
  const id = { ...STRING, pattern: "^-?\\d{1,19}$" };
  const opens = "^(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.(?!000)\\d{3})?$";
  const state = { enum: ["draft", "sent"], ...STRING };
  const common = {
    begins: { ...STRING, format: "date-time" },
    day: nullable({ ...STRING, format: "date" }),
    code: nullable({ ...STRING, format: "uuid" }),
    image: nullable({ ...STRING, contentEncoding: "base64" }),
    size: nullable(object({ width: { type: "number" } }, ["width"])),
  };
  const row = {
    ...common,
    id,
    price,
    opens: nullable(STRING),
    title: STRING,
    email: nullable(STRING),
    seats: { type: "integer" },
    tags: { type: "array", items: STRING },
    state,
  };
  const { OfferRow, CreateOffer, UpdateOffer } = schemas;
  assert.deepEqual(
    { ...OfferRow, required: OfferRow.required.sort() },
    object(row, Object.keys(row).sort()),
  );
  const digits = "^-?0*\\d{1,10}(?:\\.\\d{1,2}0*)?$";
  const created = {
    ...common,
    title,
    price: { ...STRING, pattern: digits, format: "decimal", minimum: 0 },
    opens: nullable({ ...STRING, pattern: opens }),
    email: nullable({ ...STRING, format: "email", maxLength: 254 }),
    seats: { ...seats, default: 1 },
    tags: { type: "array", items: { ...STRING, maxLength: 20 } },
    state: { ...state, default: "draft" },
  };
  assert.deepEqual(CreateOffer, object(created, ["title", "price", "begins"]));
  assert.deepEqual(UpdateOffer, { type: "object", properties: { title, seats } });
  assert.deepEqual(paths["/offers/{id}"].get.parameters, [
    { name: "id", in: "path", required: true, schema: { ...id, format: "int64" } },
  ]);
});

test("routes receive, store and send what the schemas of a model have", async () => {
  await using app = await createTestApplication(OffersModule);
  const json = {
    title: "Tent",
    price: "012.5",
    begins: "2026-11-27T09:30:00+02:00",
    image: "AP8=",
    size: { width: 2, more: 1 },
    secret: "mine",
  };
  const created = await app.request("/offers", { json });
  const row = {
    id: "1",
    title: "Tent",
    email: null,
    seats: 1,
    price: "12.50",
    begins: "2026-11-27T07:30:00.000Z",
    opens: null,
    day: null,
    code: null,
    image: "AP8=",
    tags: [],
    size: { width: 2 },
    state: "draft",
  };
  assert.equal(created.status, 201);
  assert.deepEqual(await created.json(), row);
  assert.deepEqual(await (await app.request("/offers/1")).json(), row);
  const changed = await app.request("/offers/1", {
    method: "PATCH",
    json: { seats: 2, price: "1" },
  });
  assert.deepEqual(await changed.json(), { ...row, seats: 2 });

  const refused = await app.request("/offers", { json: { ...json, title: "T", begins: "now" } });
  assert.equal(refused.status, 422);
  const { errors } = await refused.json();
  assert.deepEqual(errors, [
    { in: "body", field: "title", message: "Expected at least 2 characters" },
    { in: "body", field: "begins", message: "Expected a time such as 2026-11-27T09:30:00Z" },
  ]);
  assert.equal((await app.request("/offers/one")).status, 422);
  assert.equal((await app.request("/offers/2")).status, 404);
});
