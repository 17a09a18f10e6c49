import assert from "node:assert/strict";
import { inspect } from "node:util";
import { type CanActivate, controller, inject, module, provide, route } from "../../mod.ts";
import { createTestApplication, stub } from "../../src/testing/mod.ts";
import { test } from "../support/test.ts";

interface Cat {
  readonly id: number;
  readonly name: string;
}

const tom: Cat = { id: 1, name: "Tom" };

class CatsService {
  readonly #cats: readonly Cat[] = [];
  readonly kind: string = "cats";

  one(id: number): Cat | undefined {
    return this.#cats.find((cat) => cat.id === id);
  }

  all(): readonly Cat[] {
    return this.#cats;
  }

  get size(): number {
    return this.#cats.length;
  }

  toString(): string {
    return `${this.#cats.length} cats`;
  }

  onModuleInit(): void {
    throw new Error(`A stub has no hooks: ${this.#cats.length}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    throw new Error(`A stub is not disposed: ${this.#cats.length}`);
  }
}

class CatsController extends controller() {
  readonly #cats = inject(CatsService);
  one = route.get("/:id", ({ params }) => this.#cats.one(Number(params.id)) ?? {});
  all = route.get("/", () => this.#cats.all());
}

const CatsModule = module({ providers: [CatsService], controllers: [CatsController] });

/** Returns the stub that a module provides for its service. */
async function stubbed(override: ReturnType<typeof stub<CatsService>>): Promise<CatsService> {
  await using app = await createTestApplication(CatsModule, { overrides: [override] });
  return app.get(CatsService);
}

test("stub() provides part of a class that has private members", async () => {
  await using app = await createTestApplication(CatsModule, {
    overrides: [stub(CatsService, { one: (id) => ({ ...tom, id }) })],
  });
  assert.deepEqual(await (await app.request("/7")).json(), { id: 7, name: "Tom" });
});

test("stub() throws, naming class and member, where a missing member is used", async () => {
  await using app = await createTestApplication(CatsModule, {
    overrides: [stub(CatsService, { one: () => tom })],
  });
  const cats = app.get(CatsService);
  for (const member of ["all", "size", "kind"] as const) {
    assert.throws(() => cats[member], {
      name: "TypeError",
      message: `Cannot call CatsService.${member}: the stub does not have it`,
    });
  }
  assert.equal((await app.request("/")).status, 500);
});

test("stub() has the members that runtimes read on any object", async () => {
  const cats = await stubbed(stub(CatsService, { one: () => tom }));
  assert.equal(await cats, cats); // then
  assert.equal(JSON.stringify(cats), "{}");
  assert.equal(String(cats), "[object Object]");
  assert.match(inspect(cats), /^CatsService/);
  assert.equal(Reflect.get(cats, Symbol.iterator), undefined);
  assert.ok(cats instanceof CatsService);
  assert.equal(cats.constructor, CatsService);
  assert.deepEqual(cats, cats);
  assert.throws(() => assert.deepEqual(cats, new CatsService()), { code: "ERR_ASSERTION" });
});

test("stub() is provided in an application with metrics", async () => {
  await using app = await createTestApplication(module({ providers: [CatsService] }), {
    overrides: [stub(CatsService, { one: () => tom })],
    setUp: (app) => app.enableMetrics(),
  });
  assert.equal((await app.request("/metrics")).status, 200);
});

test("stub() keeps getters and calls between members, and runs its lifecycle hooks", async () => {
  const calls: string[] = [];
  const cats = await stubbed(stub(CatsService, {
    get size() {
      return 3;
    },
    kind: "big cats",
    one(this: CatsService) {
      return { id: this.size, name: this.kind };
    },
    onModuleInit: () => void calls.push("init"),
    [Symbol.asyncDispose]: () => Promise.resolve(void calls.push("dispose")),
  }));
  assert.deepEqual(cats.one(0), { id: 3, name: "big cats" });
  assert.deepEqual(calls, ["init", "dispose"]);
});

test("stub() accepts abstract classes and keys of provide()", async () => {
  abstract class Clock {
    abstract now(): number;
    abstract readonly zone: string;
  }
  const Mailer = provide("mailer", () => ({ send: (to: string) => to.length, close: () => {} }));
  const TestModule = module({
    providers: [provide(Clock, () => ({ now: Date.now, zone: "UTC" })), Mailer],
  });
  await using app = await createTestApplication(TestModule, {
    overrides: [stub(Clock, { now: () => 42 }), stub(Mailer, { send: () => 1 })],
  });
  assert.equal(app.get(Clock).now(), 42);
  assert.ok(app.get(Clock) instanceof Clock);
  assert.equal(app.get(Mailer).send("tom"), 1);
  assert.throws(() => app.get(Clock).zone, {
    message: "Cannot call Clock.zone: the stub does not have it",
  });
  assert.throws(() => app.get(Mailer).close(), {
    message: "Cannot call mailer.close: the stub does not have it",
  });
});

test("stub() replaces a guard", async () => {
  class AdminGuard implements CanActivate {
    canActivate(): boolean {
      return false;
    }
  }
  class SecretController extends controller() {
    show = route.get("/", { guards: [AdminGuard] }, () => ({ secret: 42 }));
  }
  const SecretModule = module({ providers: [AdminGuard], controllers: [SecretController] });
  await using app = await createTestApplication(SecretModule, {
    overrides: [stub(AdminGuard, { canActivate: () => true })],
  });
  assert.deepEqual(await (await app.request("/")).json(), { secret: 42 });
});

test("stub() creates a stub for each application", async () => {
  const override = stub(CatsService, { kind: "cats" });
  const first = await stubbed(override);
  Object.assign(first, { kind: "lions" });
  assert.equal((await stubbed(override)).kind, "cats");
});

test("stub() refuses an instance of a class, whose inherited members it would not have", () => {
  class Fake {
    one(): Cat {
      return tom;
    }
  }
  for (const members of [new Fake(), null, undefined] as object[]) {
    assert.throws(() => stub(CatsService, members), {
      name: "TypeError",
      message: "Cannot stub CatsService: the members are not a plain object; " +
        "provide(CatsService, ...) replaces it whole",
    });
  }
});

test("stub() is an instance of the class that a key of provide() provides", async () => {
  const Cats = provide(CatsService, () => new CatsService());
  await using app = await createTestApplication(module({ providers: [Cats] }), {
    overrides: [stub(Cats, { one: () => tom })],
  });
  assert.ok(app.get(CatsService) instanceof CatsService);
});

test("stub() takes an assignment to a member whose setter the class has", async () => {
  class Counter {
    #count = 0;
    get count(): number {
      return this.#count;
    }
    set count(count: number) {
      this.#count = count;
    }
  }
  await using app = await createTestApplication(module({ providers: [Counter] }), {
    overrides: [stub(Counter, {})],
  });
  const counter = app.get(Counter);
  counter.count = 2;
  counter.count = 3;
  assert.equal(counter.count, 3);
});

test("misuse of stub() is a compile error", () => {
  stub(CatsService, {});
  // @ts-expect-error: a member of another type
  stub(CatsService, { one: () => ({ id: "1", name: "Tom" }) });
  // @ts-expect-error: a member that does not exist
  stub(CatsService, { two: () => tom });
  // @ts-expect-error: a parameter of another type
  stub(CatsService, { one: (id: string) => ({ id: 1, name: id }) });
  // @ts-expect-error: the inferred parameter is a number
  stub(CatsService, { one: (id) => ({ id: 1, name: id.trim() }) });
  // @ts-expect-error: a field of another type
  stub(CatsService, { kind: 1 });
});
