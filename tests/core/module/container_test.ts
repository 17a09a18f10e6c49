import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { controller, inject, type Module, module, provide, route } from "../../../mod.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { test } from "../../support/test.ts";

class Leaf {
  readonly name: string = "leaf";
}
class Branch {
  readonly leaf = inject(Leaf);
}

test("inject() returns a provider of the same module", async () => {
  await using app = await createTestApplication(module({ providers: [Branch, Leaf] }));
  assert.equal(app.get(Branch).leaf, app.get(Leaf));
});

test("inject() returns what an imported module exports, and what it re-exports", async () => {
  const leaves = module({ name: "Leaves", providers: [Leaf], exports: [Leaf] });
  const passing = module({ name: "Passing", imports: [leaves], exports: [leaves] });
  await using app = await createTestApplication(
    module({ imports: [passing], providers: [Branch] }),
  );
  assert.equal(app.get(Branch).leaf.name, "leaf");
});

test("inject() returns a class bound to an abstract key", async () => {
  abstract class Clock {
    abstract now(): number;
  }
  class Watch {
    readonly clock = inject(Clock);
  }
  await using app = await createTestApplication(
    module({ providers: [Watch, provide(Clock, () => ({ now: () => 7 }))] }),
  );
  assert.equal(app.get(Watch).clock.now(), 7);
});

test("inject() with optional returns undefined for a key that nothing provides", async () => {
  class Lonely {
    readonly leaf = inject(Leaf, { optional: true });
  }
  await using app = await createTestApplication(module({ providers: [Lonely] }));
  assert.equal(app.get(Lonely).leaf, undefined);
});

test("inject() refuses to run outside of the container", () => {
  assert.throws(() => inject(Leaf), {
    name: "TypeError",
    message: "Cannot inject Leaf: inject() works in field initialisers, constructors and " +
      "factories (before their first await)",
  });
});

test("inject() refuses undefined, as when two files import each other", async () => {
  const Missing = undefined as unknown as typeof Leaf;
  class Broken {
    readonly leaf = inject(Missing);
  }
  await assert.rejects(createTestApplication(module({ providers: [Broken] })), {
    message: "Cannot inject undefined: it is not a key, as when two files import each other",
  });
});

test("a module imported twice is built once", async () => {
  let built = 0;
  const Counted = provide("counted", () => ++built);
  const shared = module({ name: "Shared", providers: [Counted], exports: [Counted] });
  const left = module({ name: "Left", imports: [shared] });
  const right = module({ name: "Right", imports: [shared] });
  await using _app = await createTestApplication(module({ imports: [left, right, shared] }));
  assert.equal(built, 1);
});

test("two applications of one module share nothing", async () => {
  const root = module({ providers: [Leaf] });
  await using one = await createTestApplication(root);
  await using two = await createTestApplication(root);
  assert.notEqual(one.get(Leaf), two.get(Leaf));
});

test("a dynamic module can be a promise", async () => {
  const leaves = () => Promise.resolve(module({ providers: [Leaf], exports: [Leaf] }));
  await using app = await createTestApplication(
    module({ imports: [leaves()], providers: [Branch] }),
  );
  assert.equal(app.get(Branch).leaf.name, "leaf");
});

test("async factories are awaited, independent of their order", async () => {
  const order: string[] = [];
  const Url = provide("url", async () => {
    await Promise.resolve();
    order.push("url");
    return "sqlite:";
  });
  const Connection = provide("connection", async () => {
    const url = inject(Url);
    await Promise.resolve();
    order.push("connection");
    return `open ${url}`;
  });
  class Service {
    readonly connection = inject(Connection);
  }
  await using app = await createTestApplication(
    module({ providers: [Service, Connection, Url] }),
  );
  assert.equal(app.get(Service).connection, "open sqlite:");
  assert.deepEqual(order, ["url", "connection"]);
});

test("a class or factory that injects an async function's provider is built once, in any order", async () => {
  let opened = 0;
  const Config = provide("config", async () => {
    await delay(1);
    return { url: "x" };
  });
  class Pool {
    readonly id = ++opened;
    readonly config = inject(Config);
  }
  const Repository = provide("repository", () => inject(Pool));
  const orders = [[Repository, Pool, Config], [Pool, Repository, Config], [
    Config,
    Repository,
    Pool,
  ]];
  for (const [i, providers] of orders.entries()) {
    await using app = await createTestApplication(module({ providers }));
    assert.equal(app.get(Repository).config.url, "x");
    assert.equal(opened, i + 1);
  }
});

test("boot fails with the error of an async factory", async () => {
  const Broken = provide("broken", () => Promise.reject(new Error("no such host")));
  class NeedsBroken {
    readonly broken = inject(Broken);
  }
  await assert.rejects(createTestApplication(module({ providers: [NeedsBroken, Broken] })), {
    message: "no such host",
  });
});

for (
  const { claim, root, message } of [
    {
      claim: "names the path to a provider that nothing provides",
      root: () => module({ name: "AppModule", providers: [Branch] }),
      message:
        "Cannot inject Leaf in AppModule: Branch -> Leaf: no module provides it; list it in the providers of AppModule",
    },
    {
      claim: "names the module that has it and is not imported",
      root: () => {
        const leaves = module({ name: "Leaves", providers: [Leaf], exports: [Leaf] });
        const users = module({ name: "Users", providers: [Branch] });
        return module({ name: "AppModule", imports: [leaves, users] });
      },
      message: "Cannot inject Leaf in Users: Branch -> Leaf: no provider; " +
        "Leaves has it but Users does not import it",
    },
    {
      claim: "names the module that has it and does not export it",
      root: () => {
        const leaves = module({ name: "Leaves", providers: [Leaf] });
        return module({ name: "AppModule", imports: [leaves], providers: [Branch] });
      },
      message: "Cannot inject Leaf in AppModule: Branch -> Leaf: no provider; " +
        "Leaves has it but does not export it",
    },
    {
      claim: "names the two modules that export the same key",
      root: () => {
        const one = module({ name: "One", providers: [Leaf], exports: [Leaf] });
        const two = module({ name: "Two", providers: [Leaf], exports: [Leaf] });
        return module({ name: "AppModule", imports: [one, two], providers: [Branch] });
      },
      message: "Cannot inject Leaf in AppModule: One and Two both export it",
    },
    {
      claim: "names the way round a cycle",
      root: () => {
        class Hen {
          readonly egg: unknown = inject(Egg);
        }
        class Egg {
          readonly hen: unknown = inject(Hen);
        }
        return module({ name: "AppModule", providers: [Hen, Egg] });
      },
      message: "Cannot build Hen: Hen -> Egg -> Hen is a cycle",
    },
    {
      claim: "refuses an export of what the module does not have",
      root: () => module({ name: "AppModule", exports: [Leaf] }),
      message: "Cannot boot AppModule: it exports Leaf but does not provide or import it",
    },
    {
      claim: "refuses an export of a module that is not imported",
      root: () => {
        const leaves = module({ name: "Leaves", providers: [Leaf], exports: [Leaf] });
        return module({ name: "AppModule", exports: [leaves] });
      },
      message: "Cannot boot AppModule: it exports Leaves but does not import it",
    },
    {
      claim: "refuses a key that is provided twice",
      root: () => module({ name: "AppModule", providers: [Leaf, provide(Leaf, () => new Leaf())] }),
      message: "Cannot boot AppModule: it provides Leaf twice",
    },
    {
      claim: "names the path from a controller",
      root: () => {
        const leaves = module({ name: "Leaves", providers: [Leaf], exports: [Leaf] });
        class TreesController extends controller() {
          readonly branch = inject(Branch);
          one = route.get("/", () => 1);
        }
        const trees = { name: "Trees", providers: [Branch], controllers: [TreesController] };
        return module({ name: "AppModule", imports: [leaves, module(trees)] });
      },
      message: "Cannot inject Leaf in Trees: TreesController -> Branch -> Leaf: no provider; " +
        "Leaves has it but Trees does not import it",
    },
    {
      claim: "refuses a controller without routes",
      root: () => {
        class EmptyController extends controller() {}
        return module({ name: "AppModule", controllers: [EmptyController] });
      },
      message: "Cannot boot EmptyController: none of its fields is a route",
    },
  ]
) {
  test(`FwFactory.create() ${claim}`, async () => {
    await assert.rejects(createTestApplication(root()), { name: "TypeError", message });
  });
}

test("module() refuses an undefined import", () => {
  assert.throws(() => module({ imports: [undefined as never] }), {
    name: "TypeError",
    message: "Cannot declare module: imports[0] is undefined, as when two files import each other",
  });
});

test("createTestApplication() overrides a provider wherever it is provided", async () => {
  const leaves = module({ providers: [Leaf], exports: [Leaf] });
  const fake = { name: "fake" };
  await using app = await createTestApplication(
    module({ imports: [leaves], providers: [Branch] }),
    { overrides: [provide(Leaf, () => fake)] },
  );
  assert.equal(app.get(Branch).leaf, fake);
});

test("createTestApplication() refuses an override of nothing", async () => {
  await assert.rejects(
    createTestApplication(module({}), { overrides: [provide(Leaf, () => new Leaf())] }),
    { name: "TypeError", message: "Cannot override Leaf: no module provides it" },
  );
});

test("createTestApplication() refuses unknown options, as of an override without effect", async () => {
  const options = { override: [provide(Leaf, () => new Leaf())] };
  await assert.rejects(createTestApplication(module({ providers: [Leaf] }), options as object), {
    name: "TypeError",
    message: "Cannot create test application: override is not an option, overrides is",
  });
});

test("FwFactory.create() names the cycle of modules that import each other by promises", async () => {
  const left: Promise<Module> = Promise.resolve().then(() =>
    module({ name: "Left", imports: [right] })
  );
  const right: Promise<Module> = Promise.resolve().then(() =>
    module({ name: "Right", imports: [left] })
  );
  await assert.rejects(createTestApplication(await left), {
    name: "TypeError",
    message: "Cannot import Left: Left -> Right -> Left is a cycle",
  });
});

test("boot fails with the error of a module's promise, and nothing else fails", async () => {
  const slow = new Promise<Module>((resolve) => setTimeout(() => resolve(module({})), 5));
  const failing = Promise.reject(new Error("no configuration"));
  await assert.rejects(createTestApplication(module({ imports: [slow, failing] })), {
    message: "no configuration",
  });
});

test("provide() refuses a factory that is not a function", () => {
  assert.throws(() => provide("port", 3000 as unknown as () => number), {
    name: "TypeError",
    message: "Cannot provide port: the factory is number",
  });
});

test("module() refuses a provider that is neither a class nor made by provide()", () => {
  assert.throws(() => module({ providers: [Leaf, { provide: Leaf, useValue: 1 } as never] }), {
    name: "TypeError",
    message: "Cannot declare module: providers[1] is neither a class nor made by provide()",
  });
});

test("module() refuses an unknown option", () => {
  assert.throws(() => module({ import: [] } as object), {
    name: "TypeError",
    message: "Cannot declare module: import is not an option, imports is",
  });
});

test("a stub of a class does not need its private members", async () => {
  class Secretive {
    readonly #secret = 1;
    tell() {
      return this.#secret;
    }
  }
  await using app = await createTestApplication(module({ providers: [Secretive] }), {
    overrides: [provide(Secretive, () => ({ tell: () => 2 }))],
  });
  assert.equal(app.get(Secretive).tell(), 2);
});
