/** Elysia, as its documentation writes it; on Node with its adapter. */
import { Elysia, t } from "elysia";
import { receipt, storedRows, TEXT } from "../fixtures.ts";
import { options } from "./options.ts";
import { serve } from "./serve.ts";

const { mode, port, jwks, issuer, audience } = options;

const Item = t.Object({ id: t.Number(), limit: t.Number(), sort: t.String() });
const NewOrder = t.Object({
  customer: t.Object({
    name: t.String({ minLength: 1, maxLength: 100 }),
    email: t.String({ format: "email" }),
  }),
  lines: t.Array(
    t.Object({
      sku: t.String({ pattern: "^[a-z]+-\\d{4}$" }),
      quantity: t.Integer({ minimum: 1, maximum: 99 }),
      price: t.Integer({ minimum: 0 }),
    }),
    { minItems: 1, maxItems: 500 },
  ),
  note: t.Optional(t.String({ maxLength: 500 })),
});
const Receipt = t.Object({ lines: t.Number(), total: t.Number() });
const Rows = t.Array(t.Object({
  id: t.Number(),
  name: t.String(),
  email: t.String(),
  active: t.Boolean(),
  score: t.Number(),
  tags: t.Array(t.String()),
}));

const ROWS_20 = storedRows(20);
const ROWS_1000 = storedRows(1000);

/** Listens. */
export async function listen(): Promise<void> {
  const isNode = !("Deno" in globalThis || "Bun" in globalThis);
  const app = new Elysia(isNode ? { adapter: (await import("@elysiajs/node")).node() } : {});
  if (mode === "token") {
    const { createLocalJWKSet, jwtVerify } = await import("jose");
    const keys = createLocalJWKSet(jwks);
    app.derive(async ({ headers, status }) => {
      const [, token = ""] = headers["authorization"]?.split(" ") ?? [];
      try {
        const { payload } = await jwtVerify(token, keys, { issuer, audience });
        return { subject: payload.sub };
      } catch {
        return status(401);
      }
    }).get("/me", (context) => ({ subject: (context as { subject?: string }).subject }));
  }
  for (let index = 0; index < options.routes; index++) {
    app.get(`/many/r${index}/:id`, () => TEXT);
  }
  app
    .get("/text", () => TEXT)
    .get("/json", () => ({ message: TEXT }), { response: t.Object({ message: t.String() }) })
    .get("/items/:id", ({ params, query }) => ({ ...params, ...query }), {
      params: t.Object({ id: t.Integer() }),
      query: t.Object({
        limit: t.Integer({ minimum: 1, maximum: 100 }),
        sort: t.UnionEnum(["name", "created"]),
      }),
      response: Item,
    })
    .post("/orders", ({ body, status }) => status(201, receipt(body)), {
      body: NewOrder,
      response: { 201: Receipt },
    })
    .get("/rows/20", () => ROWS_20, { response: Rows })
    .get("/rows/1000", () => ROWS_1000, { response: Rows });
  if (isNode || "Bun" in globalThis) app.listen({ port, hostname: "127.0.0.1" });
  else await serve(app.fetch);
}
