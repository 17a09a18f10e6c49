/** How much work the types of a client are for the compiler. */
import assert from "node:assert/strict";
import { testOn } from "../support/test.ts";
import { instantiationsOf } from "./error_messages.ts";

const test = testOn(["deno"], "the compiler does the same on each runtime");

interface Size {
  readonly controllers: number;
  /** How many routes are called; without it, there is no client. */
  readonly calls?: number;
}

/** Returns a program of an API of controllers with 20 routes, and calls of some of them. */
function programOf({ controllers, calls }: Size): string {
  const all = Array.from({ length: controllers }, (_, n) => n);
  const names = Array.from({ length: 20 }, (_, n) => `r${n}`);
  return [
    `import * as v from "valibot";`,
    `import { controller, module, route } from "../../mod.ts";`,
    `import { type ApiOf, createClient } from "../../src/client/mod.ts";`,
    "const Item = v.object({ id: v.string(), name: v.string() });",
    ...all.map((n) =>
      `class C${n} extends controller("c${n}") { ${
        names.map((name) =>
          `${name} = route.put("/${name}/:id", { body: Item, response: Item }, (it) => it.body);`
        ).join(" ")
      } }`
    ),
    `const Root = module({ controllers: [${all.map((n) => `C${n}`)}] });`,
    ...calls === undefined ? [] : [
      `interface Api extends ApiOf<typeof Root> {}`,
      `const api = createClient<Api>("");`,
    ],
    ...all.slice(0, calls ?? 0).map((n) =>
      `export const call${n} = () => api.put("/c${n}/r0/:id", ` +
      `{ params: { id: ${n} }, body: { id: "1", name: "" } }).then(({ name }) => name);`
    ),
  ].join("\n");
}

test("a call of a client is as much work for the compiler in a larger API", () => {
  const [small = 0, large = 0] = [10, 30].map((controllers) => {
    const [few = 0, many = 0] = [1, 9].map((calls) =>
      instantiationsOf(programOf({ controllers, calls }))
    );
    return (many - few) / 8;
  });
  assert.ok(small > 50 && large < small * 1.2, `${small} types a call, then ${large}`);
}, { slow: true });

test("a client adds at most 12 % to the work of the compiler for resources", () => {
  const added = (hasClient: boolean) => {
    const [few = 0, many = 0] = [10, 30].map((resources) =>
      instantiationsOf(resourcesOf(resources, hasClient))
    );
    return many - few;
  };
  const ratio = added(true) / added(false);
  console.log(`with a client: ${ratio.toFixed(3)} of the instantiations of resources without one`);
  assert.ok(ratio > 1 && ratio < 1.12, `${ratio} of the types without a client`);
}, { slow: true });

/** Returns a program of resources, and a call of one. */
function resourcesOf(resources: number, hasClient: boolean): string {
  const all = Array.from({ length: resources }, (_, n) => n);
  return [
    `import { controller, dto, inject, module, NotFoundException, route } from "../../mod.ts";`,
    `import { DbService, field, model } from "../../src/db/mod.ts";`,
    `import * as s from "../../src/db/schemas/mod.ts";`,
    `import { type ApiOf, createClient } from "../../src/client/mod.ts";`,
    ...all.map((n) =>
      `const Cat${n} = model("cats${n}", { id: field.integer().primaryKey(), name: field.text() });`
    ),
    `class Db extends DbService.with({ ${all.map((n) => `cat${n}: Cat${n}`)} }) {}`,
    ...all.map(resource),
    `const Root = module({ controllers: [${all.map((n) => `Cats${n}`)}] });`,
    ...hasClient
      ? [
        "interface Api extends ApiOf<typeof Root> {}",
        `export const call = () => createClient<Api>("").get("/cats0/:id", { params: { id: 1 } });`,
      ]
      : [],
  ].join("\n");
}

/** Returns the schemas and the controller of a resource, as `fw generate resource` writes them. */
function resource(n: number): string {
  return `
const Key${n} = dto("Key${n}", s.keySchemaOf(Cat${n}));
const Query${n} = s.listOf(Cat${n}, { sort: ["id", "name"] });
const Create${n} = dto("Create${n}", s.createSchemaOf(Cat${n}));
const Update${n} = dto("Update${n}", s.updateSchemaOf(Cat${n}));
const Row${n} = dto("Row${n}", s.schemaOf(Cat${n}));
class Cats${n} extends controller("cats${n}") {
  readonly #cats = inject(Db).cat${n};
  list = route.get("/", { query: Query${n}, response: s.pageOf(Row${n}) }, ({ query }) =>
    this.#cats.page(query));
  one = route.get("/:id", { params: Key${n}, response: Row${n} }, async ({ params }) =>
    await this.#cats.findUnique({ where: params }) ?? NotFoundException.throw("No such cat"));
  add = route.post("/", { body: Create${n}, response: Row${n}, status: 201 }, ({ body }) =>
    this.#cats.create({ data: body }));
  change = route.patch("/:id", { params: Key${n}, body: Update${n}, response: Row${n} }, (it) =>
    this.#cats.update({ where: it.params, data: it.body }));
  remove = route.delete("/:id", { params: Key${n}, response: Row${n} }, ({ params }) =>
    this.#cats.delete({ where: params }));
}`;
}
