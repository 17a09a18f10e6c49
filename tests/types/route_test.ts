import type { Context } from "hono";
import * as v from "valibot";
import { inject, provide, route } from "../../mod.ts";
import { test } from "../support/test.ts";
import { same } from "./same.ts";

const Id = v.object({ id: v.pipe(v.string(), v.transform(Number)) });
const Row = v.object({ id: v.number(), name: v.string() });

test("a handler's input and output are inferred from what its route declares", () => {
  route.get("/:id/posts/:post{[0-9]+}/:last?", ({ params }, c) => {
    same<typeof params.id, string>();
    same<typeof params.post, string>();
    same<typeof params.last, string | undefined>();
    same<typeof c, Context>();
  });

  route.get("/", (input) => {
    // @ts-expect-error: no query is declared
    input.query;
  });

  route.post("/:id", {
    params: Id,
    query: v.object({ take: v.optional(v.number()) }),
    body: v.object({ name: v.string() }),
    headers: v.object({ "x-a": v.string() }),
    args: {
      inline: (c) => c.req.path,
      later: (_: Context) => Promise.resolve(1),
    },
    response: Row,
  }, ({ params, query, body, headers, inline, later }) => {
    same<typeof params, { id: number }>();
    same<typeof query, { take?: number | undefined }>();
    same<typeof body, { name: string }>();
    same<typeof headers, { "x-a": string }>();
    same<typeof inline, string>();
    same<typeof later, number>();
    return { id: params.id, name: body.name };
  });
});

test("misuse of a route is a compile error", () => {
  // @ts-expect-error: the response schema wants a name
  route.get("/", { response: Row }, () => ({ id: 1 }));
  // @ts-expect-error: the response schema wants a string
  route.get("/", { response: Row }, async () => await Promise.resolve({ id: 1, name: 2 }));
  // @ts-expect-error: the path has no such parameter
  route.get("/:id", ({ params }) => params.name);
  // @ts-expect-error: an error is thrown, not declared
  route.get("/", { status: 404 }, () => 1);
  // @ts-expect-error: no such option
  route.get("/", { scheme: Row }, () => 1);
  route.get("/", { response: Row }, () => new Response());
  route.get(
    "/",
    { response: Row },
    () => ({ id: 1, name: "a", extra: true } as { id: number; name: string }),
  );
});

test("provide() takes for a class only what has its shape", () => {
  class Users {
    one(): number {
      return 1;
    }
  }
  provide(Users, () => new Users());
  provide(Users, () => Promise.resolve({ one: () => 2 }));
  // @ts-expect-error: it lacks a method
  provide(Users, () => ({}));
  // @ts-expect-error: it is nothing
  provide(Users, () => undefined);
});

test("inject() gives the type of its key", () => {
  const Port = provide("port", () => Promise.resolve(3000));
  class _Service {
    readonly port = inject(Port);
    readonly maybe = inject(Port, { optional: true });
  }
  same<_Service["port"], number>();
  same<_Service["maybe"], number | undefined>();
});
