/** Hono over a store of users: input is validated, and the store selects the columns of the answer. */
import { sValidator } from "@hono/standard-validator";
import { Hono } from "hono";
import { serve } from "../serve.ts";
import { NewUser, UserParams, UsersQuery } from "../valibot_schemas.ts";
import { openStore } from "./store.ts";

/** Listens. */
export async function listen(): Promise<void> {
  const users = await openStore();
  const app = new Hono();
  app.get("/users/:id", sValidator("param", UserParams), async (c) => {
    const user = await users.one(c.req.valid("param").id);
    return user ? c.json(user) : c.json({ message: "No such user" }, 404);
  });
  app.get(
    "/users",
    sValidator("query", UsersQuery),
    async (c) => c.json(await users.list(c.req.valid("query").take)),
  );
  app.post(
    "/users",
    sValidator("json", NewUser),
    async (c) => c.json(await users.create(c.req.valid("json")), 201),
  );
  await serve(app.fetch);
}
