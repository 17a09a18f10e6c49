import assert from "node:assert/strict";
import { controller, type ControllerClass, FwFactory, module, route } from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { declarationOf } from "../../../src/core/route/controller.ts";
import { test } from "../../support/test.ts";

const letNobodyIn = () => false;

test("controller() places its routes under the prefix and guards them", async () => {
  class CatsController extends controller("cats/:owner", { guards: [letNobodyIn] }) {
    readonly #names = ["Tom"];
    list = this.route.get("/", ({ params }) => [params.owner, ...this.#names]);
  }
  class DogsController extends controller() {
    list = this.route.get("/dogs/:name", ({ params }) => params.name);
  }
  await using app = await createTestApplication(
    module({ name: "App", controllers: [CatsController, DogsController] }),
  );
  assert.deepEqual(app.routes().map(({ path, handler }) => `${path} ${handler}`), [
    "/cats/:owner App.CatsController.list",
    "/dogs/:name App.DogsController.list",
  ]);
  assert.equal((await app.request("/cats/ada")).status, 403);
  assert.equal(await (await app.request("/dogs/rex")).json(), "rex");
});

test("a subclass of a controller inherits its prefix, options and routes", async () => {
  class CatsController extends controller("cats", { guards: [letNobodyIn] }) {
    list = route.get("/", () => ["Tom"]);
  }
  class MoreCatsController extends CatsController {
    more = route.get("/more", () => ["Kit"]);
  }
  await using app = await createTestApplication(
    module({ name: "App", controllers: [MoreCatsController] }),
  );
  assert.deepEqual(
    app.routes().map(({ path, handler, protection }) => [path, handler, protection]),
    [
      ["/cats", "App.MoreCatsController.list", "guarded"],
      ["/cats/more", "App.MoreCatsController.more", "guarded"],
    ],
  );
  assert.equal((await app.request("/cats/more")).status, 403);
});

test("a function makes one controller of several prefixes", async () => {
  const listing = (name: string) =>
    class ListController extends controller(name) {
      list = route.get("/", () => [name]);
    };
  await using app = await createTestApplication(
    module({ controllers: [listing("cats"), listing("dogs")] }),
  );
  assert.deepEqual(await (await app.request("/dogs")).json(), ["dogs"]);
});

for (
  const [claim, declare, message] of [
    [
      "an unknown option",
      () => controller("cats", { gaurds: [letNobodyIn] } as object),
      'Cannot declare controller("cats"): gaurds is not an option',
    ],
    [
      "an option in the singular",
      () => controller("cats", { guard: [letNobodyIn] } as object),
      'Cannot declare controller("cats"): guard is not an option, guards is',
    ],
    [
      "guards that are not a list",
      () => controller("cats", { guards: letNobodyIn } as object),
      'Cannot declare controller("cats"): guards is not an array',
    ],
    [
      "a public that is not a boolean",
      () => controller("cats", { public: "false" } as object),
      'Cannot declare controller("cats"): public is not a boolean',
    ],
    [
      "an empty list of roles",
      () => controller("cats", { roles: [] }),
      'Cannot declare controller("cats"): roles is empty: name at least one',
    ],
    ...["roles", "scopes", "guards"].map((name) =>
      [
        `${name} that are undefined`,
        () => controller("cats", { [name]: undefined } as object),
        `Cannot declare controller("cats"): ${name} is undefined; omit it for the default`,
      ] as const
    ),
    [
      "roles that are not a list",
      () => controller("cats", { roles: "admin" } as object),
      'Cannot declare controller("cats"): roles is not an array of names',
    ],
    [
      "roles of a public controller",
      () => controller("cats", { roles: ["admin"], public: true }),
      'Cannot declare controller("cats"): it is public, so its roles have no effect',
    ],
    [
      "an empty list of scopes",
      () => controller("cats", { scopes: [] }),
      'Cannot declare controller("cats"): scopes is empty: name at least one',
    ],
    [
      "scopes that are words of one text",
      () => controller("cats", { scopes: ["cats:read cats:write"] }),
      'Cannot declare controller("cats"): scopes is not an array of names',
    ],
    [
      "scopes of a public controller",
      () => controller("cats", { scopes: ["cats:read"], public: true }),
      'Cannot declare controller("cats"): it is public, so its scopes have no effect',
    ],
    [
      "options in place of the prefix",
      () => controller({ version: "v1" } as never),
      'Cannot declare controller({"version":"v1"}): the prefix is not a string',
    ],
  ] as const
) {
  test(`controller() refuses ${claim}`, () => {
    assert.throws(declare, { name: "TypeError", message });
  });
}

class Plain {
  list = route.get("/", () => 1);
}

/** Classes that would be open or misplaced if they were served. */
const REFUSED: Readonly<Record<string, readonly [type: object, message: string]>> = {
  "a class that does not extend controller()": [
    Plain,
    'Cannot boot Plain: it does not extend controller(); write class Plain extends controller("...")',
  ],
  "what is not a class": [{}, "Cannot boot a controller: it is object, not a class"],
  ...Object.fromEntries(
    ["version", "tag", "guards", "interceptors", "filters", "roles", "scopes", "public"].map((
      option,
    ) => [
      `a class with static ${option}`,
      [
        Object.assign(class OldController {}, { [option]: [letNobodyIn] }),
        `Cannot boot OldController: its static ${option} has no effect; ` +
        `write class OldController extends controller("...", { ${option} })`,
      ] as const,
    ]),
  ),
  "a class with static prefix": [
    Object.assign(class OldController {}, { prefix: "old" }),
    "Cannot boot OldController: its static prefix has no effect; " +
    'write class OldController extends controller("...")',
  ],
  ...Object.fromEntries(
    ["guard", "interceptor", "filter", "role"].map((member) => [
      `a controller with static ${member}`,
      [
        Object.assign(class OddController extends controller("odd") {}, { [member]: letNobodyIn }),
        `Cannot boot OddController: its static ${member} has no effect; ` +
        `write class OddController extends controller("...", { ${member}s })`,
      ] as const,
    ]),
  ),
  "a controller with a field that should be an option": [
    class FieldController extends controller("odd") {
      readonly roles = ["admin"];
      list = route.get("/", () => 1);
    },
    "Cannot boot FieldController: its field roles has no effect; " +
    'write class FieldController extends controller("...", { roles })',
  ],
};

for (const [claim, [type, message]] of Object.entries(REFUSED)) {
  test(`FwFactory.create() refuses ${claim}, a preview too`, async () => {
    const root = module({ controllers: [type as ControllerClass] });
    await assert.rejects(FwFactory.create(root), { name: "TypeError", message });
    await assert.rejects(FwFactory.create(root, { preview: true }), { name: "TypeError", message });
  });
}

test("controller() takes options that its argument inherits", () => {
  class Options {
    get roles() {
      return ["admin"];
    }
  }
  for (const options of [new Options(), Object.create({ roles: ["admin"] })]) {
    class SecretController extends controller("", options) {
      secret = route.get("/", () => "secret");
    }
    assert.deepEqual(declarationOf(SecretController).roles, ["admin"]);
  }
});
