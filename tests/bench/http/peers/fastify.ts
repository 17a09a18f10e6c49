/** Fastify, as its documentation writes it: schemas that it compiles, for input and for output. */
import fastify from "fastify";
import { createPublicKey } from "node:crypto";
import { type NewOrder, receipt, storedRows, TEXT } from "../fixtures.ts";
import { options, RATE_LIMIT, RATE_WINDOW_MS } from "./options.ts";

const { mode, port, jwks, issuer, audience } = options;

const text = { type: "string" } as const;
const number = { type: "number" } as const;
const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const Item = object({ id: number, limit: number, sort: text });
const NewOrderSchema = object({
  customer: object({
    name: { ...text, minLength: 1, maxLength: 100 },
    email: { ...text, format: "email" },
  }),
  lines: {
    type: "array",
    minItems: 1,
    maxItems: 500,
    items: object({
      sku: { ...text, pattern: "^[a-z]+-\\d{4}$" },
      quantity: { type: "integer", minimum: 1, maximum: 99 },
      price: { type: "integer", minimum: 0 },
    }),
  },
  note: { ...text, maxLength: 500 },
}, ["customer", "lines"]);
const Rows = {
  type: "array",
  items: object({
    id: number,
    name: text,
    email: text,
    active: { type: "boolean" },
    score: number,
    tags: { type: "array", items: text },
  }),
};
const ok = (schema: object) => ({ schema: { response: { 200: schema } } });

const ROWS_20 = storedRows(20);
const ROWS_1000 = storedRows(1000);

/** Listens. */
export async function listen(): Promise<void> {
  const app = fastify({ logger: mode === "stack" });
  if (mode === "stack") {
    const { collectDefaultMetrics, Counter, Histogram, register } = await import("prom-client");
    collectDefaultMetrics();
    const labelNames = ["method", "route", "status"] as const;
    const requests = new Counter({ name: "http_requests_total", help: "Requests", labelNames });
    const seconds = new Histogram({
      name: "http_request_duration_seconds",
      help: "Durations",
      labelNames,
    });
    app.addHook("onResponse", (request, reply, done) => {
      const route = request.routeOptions.url ?? "";
      const labels = { method: request.method, route, status: reply.statusCode };
      requests.inc(labels);
      seconds.observe(labels, reply.elapsedTime / 1000);
      done();
    });
    app.get("/metrics", async (_, reply) => {
      reply.type(register.contentType);
      return await register.metrics();
    });
    app.addHook("onRequest", (request, reply, done) => {
      reply.header("x-request-id", request.id);
      done();
    });
    await app.register(import("@fastify/rate-limit"), {
      max: RATE_LIMIT,
      timeWindow: RATE_WINDOW_MS,
    });
  }
  if (mode === "stack" || mode === "token") {
    const [key] = jwks.keys;
    const pem = createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "pem" });
    await app.register(import("@fastify/jwt"), {
      secret: { public: pem },
      verify: { algorithms: ["ES256"], allowedIss: issuer, allowedAud: audience, cache: 1000 },
    });
    app.addHook("onRequest", (request) => request.jwtVerify().then(() => {}));
    app.get("/me", (request) => ({ subject: (request.user as { sub: string }).sub }));
  }
  for (let index = 0; index < options.routes; index++) {
    app.get(`/many/r${index}/:id`, (_, reply) => reply.send(TEXT));
  }
  app.get("/text", (_, reply) => reply.send(TEXT));
  app.get("/json", ok(object({ message: text })), () => ({ message: TEXT }));
  app.get("/items/:id", {
    schema: {
      params: object({ id: { type: "integer" } }),
      querystring: object({
        limit: { type: "integer", minimum: 1, maximum: 100 },
        sort: { ...text, enum: ["name", "created"] },
      }),
      response: { 200: Item },
    },
  }, (request) => ({ ...request.params as object, ...request.query as object }));
  app.post("/orders", {
    schema: { body: NewOrderSchema, response: { 201: object({ lines: number, total: number }) } },
  }, (request, reply) => reply.code(201).send(receipt(request.body as NewOrder)));
  app.get("/rows/20", ok(Rows), () => ROWS_20);
  app.get("/rows/1000", ok(Rows), () => ROWS_1000);
  await app.listen({ port, host: "127.0.0.1" });
}
