import * as v from "valibot";
import { controller, type Module, module, route } from "../../mod.ts";
import type { ApiOf, DataOf, PathsOf, Received } from "../../src/client/mod.ts";
import { test } from "../support/test.ts";
import { same } from "./same.ts";

class RootController extends controller() {
  root = route.get("/", () => 1);
  empty = route.post("", () => 1);
  any = route.all("any", () => 1);
}
class CatsController extends controller("/cats/:cat/", { version: "v1" }) {
  list = route.get("/", () => 1);
  one = route.get("/:id{[0-9]+}/toys/:toy{[a-z]{1,3}}", () => 1);
  end = route.get("/pages/:page{[a-z]+}?", () => 1);
  rest = route.get("files/*", { status: 201 }, () => 1);
  second = route.put("/", { version: "v2" }, () => 1);
  both = route.patch("/", { version: ["v2", "v3"] }, () => 1);
  plain = route.delete("/", { version: "" }, () => 1);
}
class ManyController extends controller("many", { version: ["v1", "v2"] }) {
  head = route.head("/", { response: v.number(), status: 201 }, () => 1);
}
const Inner = module({ controllers: [CatsController] });
const AppModule = module({
  imports: [Promise.resolve(module({ imports: [Inner] })), module({}) as Module],
  controllers: [RootController, ManyController],
});
type App = typeof AppModule;

test("ApiOf has the paths of requests with versions in the path", () => {
  type Api = ApiOf<App>;
  same<
    PathsOf<Api, "GET">,
    | "/"
    | "/any"
    | "/v1/cats/:cat"
    | "/v1/cats/:cat/:id/toys/:toy"
    | "/v1/cats/:cat/pages/:page?"
    | "/v1/cats/:cat/files/*"
  >();
  same<PathsOf<Api, "POST">, "/" | "/any">();
  same<PathsOf<Api, "PUT">, "/any" | "/v2/cats/:cat">();
  same<PathsOf<Api, "PATCH">, "/any" | "/v2/cats/:cat" | "/v3/cats/:cat">();
  same<PathsOf<Api, "DELETE">, "/any" | "/cats/:cat">();
  same<PathsOf<Api, "HEAD">, "/any" | "/v1/many" | "/v2/many">();
  same<DataOf<Api["HEAD /v1/many"]>, undefined>();
});

test("ApiOf has the default version in the paths of routes without one", () => {
  type Api = ApiOf<App, { versioning: "path"; defaultVersion: "v0" }>;
  same<PathsOf<Api, "POST">, "/v0" | "/v0/any">();
  same<PathsOf<Api, "DELETE">, "/v0/any" | "/cats/:cat">();
  same<PathsOf<Api, "PUT">, "/v0/any" | "/v2/cats/:cat">();
});

test("ApiOf has the paths of one version, and of routes without one", () => {
  type Api = ApiOf<App, { versioning: { only: "v2" } }>;
  same<PathsOf<Api, "GET">, "/" | "/any">();
  same<PathsOf<Api, "PUT">, "/any" | "/cats/:cat">();
  same<PathsOf<Api, "HEAD">, "/any" | "/many">();
  same<PathsOf<Api, "DELETE">, "/any" | "/cats/:cat">();
});

test("data has the types that JSON leaves", () => {
  same<Received<{ at: Date; none?: string }>, { at: string; none?: string }>();
  same<Received<readonly (string | undefined)[]>, readonly (string | null)[]>();
  same<Received<[Date, (number | undefined)?]>, [string, (number | null)?]>();
  same<Received<{ rows: { at: Date }[] }>, { rows: { at: string }[] }>();
});
