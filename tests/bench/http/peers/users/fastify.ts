/** Fastify over a store of users, with schemas for input and for output. */
import fastify from "fastify";
import { options } from "../options.ts";
import { type NewUser, openStore } from "./store.ts";

const text = { type: "string" } as const;
const User = {
  type: "object",
  properties: { id: { type: "integer" }, email: text, name: text, active: { type: "boolean" } },
  required: ["id", "email", "name", "active"],
} as const;

/** Listens. */
export async function listen(): Promise<void> {
  const users = await openStore();
  const app = fastify();
  app.get<{ Params: { id: number } }>(
    "/users/:id",
    {
      schema: {
        params: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
        response: { 200: User },
      },
    },
    async ({ params }, reply) =>
      await users.one(params.id) ?? reply.code(404).send({ message: "No such user" }),
  );
  app.get<{ Querystring: { take: number } }>("/users", {
    schema: {
      querystring: {
        type: "object",
        properties: { take: { type: "integer", minimum: 1, maximum: 100 } },
        required: ["take"],
      },
      response: { 200: { type: "array", items: User } },
    },
  }, async ({ query }) => await users.list(query.take));
  app.post<{ Body: NewUser }>("/users", {
    schema: {
      body: {
        type: "object",
        properties: {
          email: { ...text, format: "email" },
          name: { ...text, minLength: 1, maxLength: 100 },
        },
        required: ["email", "name"],
        additionalProperties: false,
      },
      response: { 201: User },
    },
  }, async ({ body }, reply) => reply.code(201).send(await users.create(body)));
  await app.listen({ port: options.port, host: "127.0.0.1" });
}
