import assert from "node:assert/strict";
import type { Context } from "hono";
import * as v from "valibot";
import {
  type CanActivate,
  type CanActivateFn,
  controller,
  type FwApplication,
  type GuardResult,
  inject,
  module,
  provide,
  route,
} from "../../mod.ts";
import { OAuth2Guard } from "../../src/oauth2/mod.ts";
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
  assert.throws(() => {
    // @ts-expect-error: no such option
    route.get("/", { scheme: Row }, () => 1);
  }, { message: "Cannot declare GET /: scheme is not an option" });
  route.get("/", { response: Row }, () => new Response());
  route.get(
    "/",
    { response: Row },
    () => ({ id: 1, name: "a", extra: true } as { id: number; name: string }),
  );
});

test("this.route types the parameters of the controller's prefix", () => {
  class _Comments extends controller("articles/:slug/comments/:page{[0-9]+}") {
    list = this.route.get("/", ({ params }) => same<keyof typeof params, "slug" | "page">());
    one = this.route.get(":id", { response: Row }, ({ params }) => {
      same<typeof params.slug, string>();
      same<typeof params.id, string>();
      // @ts-expect-error: neither the prefix nor the path has such a parameter
      params.name;
      return { id: 1, name: params.slug };
    });
    plain = route.get("/:id", ({ params }) => same<keyof typeof params, "id">());
  }
  class _Root extends controller() {
    one = this.route.get("/:id", ({ params }) => same<keyof typeof params, "id">());
  }
  // @ts-expect-error: it is for the class and its subclasses
  new _Root().route;
});

test("misuse of a controller is a compile error", () => {
  const _refused = [
    // @ts-expect-error: a misspelt option
    () => controller("cats", { gaurds: [] }),
    // @ts-expect-error: an option in the singular
    () => controller("cats", { guard: [] }),
    // @ts-expect-error: the prefix comes first
    () => controller({ version: "v1" }),
    // @ts-expect-error: no such guard
    () => controller("cats", { guards: ["admin"] }),
  ];
  // @ts-expect-error: options are no static members
  class _Static extends controller("cats") {
    static readonly roles = ["admin"];
  }
  class Plain {
    one = route.get("/", () => 1);
  }
  class Base extends controller("cats") {
    readonly #names = ["Tom"];
    list = route.get("/", () => this.#names);
  }
  class Sub extends Base {}
  // @ts-expect-error: it does not extend controller()
  module({ controllers: [Plain] });
  module({ controllers: [Base, Sub, class extends controller() {}] });
});

test("a guard that does not return whether the request passes is a compile error", () => {
  same<GuardResult, boolean | Promise<boolean>>();
  const handler = () => 1;
  // @ts-expect-error: it returns nothing
  route.get("/", { guards: [() => {}] }, handler);
  // @ts-expect-error: it returns undefined
  route.get("/", { guards: [() => undefined] }, handler);
  // @ts-expect-error: it returns a promise of nothing
  route.get("/", { guards: [async () => await Promise.resolve()] }, handler);
  // @ts-expect-error: it returns undefined for some requests
  route.get("/", { guards: [(c) => c.req.path === "/" ? true : undefined] }, handler);
  // @ts-expect-error: it returns undefined for some callers
  route.get("/", { guards: [(_: Context, user?: { admin: boolean }) => user?.admin] }, handler);
  // @ts-expect-error: a text is not a decision
  controller("cats", { guards: [(c) => c.req.header("x-api-key") ?? false] });
  // @ts-expect-error: it returns nothing
  const _use = (app: FwApplication) => app.useGlobalGuards((c) => c.set("seen", true));
  class _Nothing implements CanActivate {
    // @ts-expect-error: it returns nothing
    canActivate() {}
  }
  class _Later implements CanActivate {
    // @ts-expect-error: it returns a promise of nothing
    async canActivate() {
      await Promise.resolve();
    }
  }
  class Undeclared {
    canActivate(): void {}
  }
  // @ts-expect-error: its canActivate() returns nothing
  route.get("/", { guards: [Undeclared] }, handler);
  class _Lax extends OAuth2Guard {
    // @ts-expect-error: it returns nothing
    override canActivate() {}
  }
  // @ts-expect-error: it returns nothing
  const _typed: CanActivateFn = () => {};

  class Decides implements CanActivate {
    canActivate(c: Context) {
      return c.req.path === "/";
    }
  }
  const decides = async (c: Context) => await Promise.resolve(c.req.path === "/");
  route.get("/", { guards: [Decides, OAuth2Guard, decides, () => true] }, handler);
});

test("provide() accepts only the shape of its class", () => {
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

test("inject() returns the type of its key", () => {
  const Port = provide("port", () => Promise.resolve(3000));
  class _Service {
    readonly port = inject(Port);
    readonly maybe = inject(Port, { optional: true });
  }
  same<_Service["port"], number>();
  same<_Service["maybe"], number | undefined>();
});

test("a route with etag returns a version, and a change receives the one to match", () => {
  const etag = { "~version": "revision" } as const;
  const row = () => ({ id: 1, name: "a", revision: 2 });
  route.get("/", { etag, response: Row }, row);
  route.post("/", { etag, response: Row }, async () => await Promise.resolve(row()));
  route.put("/", { etag, response: Row }, ({ version }) => {
    same<typeof version, number | undefined>();
    return row();
  });
  route.patch("/", { etag, response: Row }, ({ version }) => {
    same<typeof version, number | undefined>();
    return row();
  });
  route.delete("/", { etag, response: Row }, ({ version }) => {
    same<typeof version, number | undefined>();
    return { id: 1, name: "a" };
  });
  route.get("/", { etag, response: v.nullable(Row) }, () => null);
  // @ts-expect-error: it has no revision
  route.get("/", { etag, response: Row }, () => ({ id: 1, name: "a" }));
  // @ts-expect-error: a read matches no version
  route.get("/", { etag, response: Row }, ({ version }) => ({ ...row(), version }));
  // @ts-expect-error: without etag, there is no version
  route.put("/", { response: Row }, ({ version }) => ({ ...row(), version }));
});
