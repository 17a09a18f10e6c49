/** Hono with `@hono/zod-openapi`, as its documentation writes it; it does not check responses. */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { receipt, storedRows, TEXT } from "../fixtures.ts";
import { options } from "./options.ts";
import { serve } from "./serve.ts";

const WholeNumber = z.string().regex(/^\d{1,9}$/).transform(Number);
const Message = z.object({ message: z.string() });
const ItemParams = z.object({ id: WholeNumber });
const ItemQuery = z.object({
  limit: WholeNumber.pipe(z.number().min(1).max(100)),
  sort: z.enum(["name", "created"]),
});
const Item = z.object({ id: z.number(), limit: z.number(), sort: z.string() });
const NewOrder = z.object({
  customer: z.object({ name: z.string().min(1).max(100), email: z.email() }),
  lines: z.array(z.object({
    sku: z.string().regex(/^[a-z]+-\d{4}$/),
    quantity: z.int().min(1).max(99),
    price: z.int().min(0),
  })).min(1).max(500),
  note: z.string().max(500).optional(),
});
const Receipt = z.object({ lines: z.number(), total: z.number() });
const Rows = z.array(z.object({
  id: z.number(),
  name: z.string(),
  email: z.string(),
  active: z.boolean(),
  score: z.number(),
  tags: z.array(z.string()),
}));

const json = <T extends z.ZodType>(schema: T) => ({
  content: { "application/json": { schema } },
  description: "OK",
});
const jsonRoute = createRoute({ method: "get", path: "/json", responses: { 200: json(Message) } });
const itemRoute = createRoute({
  method: "get",
  path: "/items/{id}",
  request: { params: ItemParams, query: ItemQuery },
  responses: { 200: json(Item) },
});
const orderRoute = createRoute({
  method: "post",
  path: "/orders",
  request: { body: { content: { "application/json": { schema: NewOrder } }, required: true } },
  responses: { 201: json(Receipt) },
});
const rowsRoute = (count: number) =>
  createRoute({ method: "get", path: `/rows/${count}`, responses: { 200: json(Rows) } });

const ROWS_20 = storedRows(20);
const ROWS_1000 = storedRows(1000);

/** Listens. */
export async function listen(): Promise<void> {
  const app = new OpenAPIHono();
  for (let index = 0; index < options.routes; index++) {
    app.get(`/many/r${index}/:id`, (c) => c.text(TEXT));
  }
  app.get("/text", (c) => c.text(TEXT));
  app.openapi(jsonRoute, (c) => c.json(Message.parse({ message: TEXT }), 200));
  app.openapi(itemRoute, (c) => {
    const item = { ...c.req.valid("param"), ...c.req.valid("query") };
    return c.json(Item.parse(item), 200);
  });
  app.openapi(orderRoute, (c) => c.json(Receipt.parse(receipt(c.req.valid("json"))), 201));
  app.openapi(rowsRoute(20), (c) => c.json(Rows.parse(ROWS_20), 200));
  app.openapi(rowsRoute(1000), (c) => c.json(Rows.parse(ROWS_1000), 200));
  await serve(app.fetch);
}
