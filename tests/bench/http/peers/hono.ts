/** Hono, as its documentation writes it, with the validator for Standard Schemas and valibot. */
import { sValidator } from "@hono/standard-validator";
import { Hono } from "hono";
import * as v from "valibot";
import { receipt, storedRows, TEXT } from "../fixtures.ts";
import { options, RATE_LIMIT, RATE_WINDOW_MS } from "./options.ts";
import { serve } from "./serve.ts";
import {
  Item,
  ItemParams,
  ItemQuery,
  Message,
  NewOrder,
  Receipt,
  Rows,
} from "./valibot_schemas.ts";

const { mode, jwks, issuer, audience } = options;
const ROWS_20 = storedRows(20);
const ROWS_1000 = storedRows(1000);

/** Listens. */
export async function listen(): Promise<void> {
  const app = new Hono();
  if (mode === "stack") {
    const [{ prometheus }, { rateLimiter }, { logger }, { requestId }] = await Promise.all([
      import("@hono/prometheus"),
      import("hono-rate-limiter"),
      import("hono/logger"),
      import("hono/request-id"),
    ]);
    const { printMetrics, registerMetrics } = prometheus();
    app.use(requestId(), logger(), registerMetrics);
    app.get("/metrics", printMetrics);
    app.use(rateLimiter({
      windowMs: RATE_WINDOW_MS,
      limit: RATE_LIMIT,
      keyGenerator: (c) => c.env.remoteAddr?.hostname ?? "client",
    }));
  }
  if (mode === "stack" || mode === "token") {
    const { jwk } = await import("hono/jwk");
    app.use(jwk({ keys: jwks.keys, alg: ["ES256"], verification: { iss: issuer, aud: audience } }));
  }
  app.get("/me", (c) => c.json({ subject: c.get("jwtPayload").sub }));
  for (let index = 0; index < options.routes; index++) {
    app.get(`/many/r${index}/:id`, (c) => c.text(TEXT));
  }
  for (let index = 0; index < options.controllers; index++) {
    const small = new Hono();
    for (let n = 0; n < 5; n++) small.get(`/r${n}/:id`, (c) => c.text(TEXT));
    app.route(`/small${index}`, small);
  }
  app.get("/text", (c) => c.text(TEXT));
  app.get("/json", (c) => c.json(v.parse(Message, { message: TEXT })));
  app.get("/items/:id", sValidator("param", ItemParams), sValidator("query", ItemQuery), (c) => {
    const item = { ...c.req.valid("param"), ...c.req.valid("query") };
    return c.json(v.parse(Item, item));
  });
  app.post(
    "/orders",
    sValidator("json", NewOrder),
    (c) => c.json(v.parse(Receipt, receipt(c.req.valid("json"))), 201),
  );
  app.get("/rows/20", (c) => c.json(v.parse(Rows, ROWS_20)));
  app.get("/rows/1000", (c) => c.json(v.parse(Rows, ROWS_1000)));
  await serve(app.fetch);
}
