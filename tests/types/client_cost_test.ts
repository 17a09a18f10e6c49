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
}, { exhaustive: true });

test("a client is at most 35 instantiations for each route of an API", () => {
  const [few = 0, many = 0] = [10, 30].map((controllers) =>
    instantiationsOf(programOf({ controllers, calls: 1 })) -
    instantiationsOf(programOf({ controllers }))
  );
  const ofRoute = (many - few) / (20 * 20);
  assert.ok(ofRoute > 1 && ofRoute < 35, `${ofRoute} types a route`);
}, { exhaustive: true });
