import assert from "node:assert/strict";
import {
  type CanActivate,
  controller,
  type FwApplication,
  FwFactory,
  inject,
  module,
  provide,
  route,
} from "../../../mod.ts";
import { runStopHooks } from "../../../src/core/module/lifecycle.ts";
import { createTestApplication } from "../../../src/testing/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { test } from "../../support/test.ts";

/** Returns a class that writes each of its hooks into a log. */
function recorder(log: string[], name: string, dependency?: new () => object) {
  return class {
    readonly dependency = dependency && inject(dependency);
    onModuleInit() {
      log.push(`${name} init`);
    }
    onApplicationBootstrap() {
      log.push(`${name} bootstrap`);
    }
    onApplicationShutdown(signal?: string) {
      log.push(`${name} shutdown ${signal}`);
    }
    async onModuleDestroy() {
      await Promise.resolve();
      log.push(`${name} destroy`);
    }
    [Symbol.asyncDispose]() {
      log.push(`${name} dispose`);
      return Promise.resolve();
    }
  };
}

test("hooks of dependencies run first at the start and last at the stop", async () => {
  const log: string[] = [];
  const Below = recorder(log, "below");
  const Above = recorder(log, "above", Below);
  const app = await createTestApplication(module({ providers: [Above, Below] }));
  assert.deepEqual(log, ["below init", "above init", "below bootstrap", "above bootstrap"]);
  log.length = 0;
  await app.close({ signal: "SIGTERM" });
  assert.deepEqual(log, [
    "above shutdown SIGTERM",
    "below shutdown SIGTERM",
    "above destroy",
    "below destroy",
    "above dispose",
    "below dispose",
  ]);
});

test("hooks of controllers and of the values of factories run too", async () => {
  const log: string[] = [];
  const Made = provide("made", () => ({ onModuleInit: () => void log.push("made") }));
  class Controller extends controller() {
    readonly made = inject(Made);
    one = route.get("/", () => 1);
    onModuleInit() {
      log.push("controller");
    }
  }
  await using _app = await createTestApplication(
    module({ providers: [Made], controllers: [Controller] }),
  );
  assert.deepEqual(log, ["made", "controller"]);
});

test("close() runs the hooks once, however often it is called", async () => {
  const log: string[] = [];
  const app = await createTestApplication(module({ providers: [recorder(log, "one")] }));
  log.length = 0;
  await Promise.all([app.close(), app.close()]);
  await app.close();
  assert.deepEqual(log, ["one shutdown undefined", "one destroy", "one dispose"]);
});

test("close() runs every hook even if one fails, and throws their errors", async () => {
  const log: string[] = [];
  class Failing {
    onModuleDestroy() {
      throw new Error("stuck");
    }
  }
  const app = await createTestApplication(
    module({ providers: [recorder(log, "one"), Failing] }),
  );
  log.length = 0;
  await assert.rejects(app.close(), (error: AggregateError) => {
    assert.deepEqual(error.errors.map(String), ["Error: stuck"]);
    return true;
  });
  assert.deepEqual(log, ["one shutdown undefined", "one destroy", "one dispose"]);
});

test("a stop hook that never ends is given up, and the others run", async () => {
  const log: string[] = [];
  class Endless {
    onApplicationShutdown() {
      return new Promise<void>(() => {});
    }
  }
  const One = recorder(log, "one");
  await assert.rejects(
    runStopHooks([new One(), new Endless()], { signal: "SIGTERM", hookMs: 20 }),
    (error: AggregateError) => {
      const why = "Cannot stop Endless: onApplicationShutdown has not finished within 20 ms";
      assert.deepEqual(error.errors.map(String), [`Error: ${why}`]);
      return true;
    },
  );
  assert.deepEqual(log, ["one shutdown SIGTERM", "one destroy", "one dispose"]);
});

test("a boot that fails stops the instances it has built", async () => {
  const log: string[] = [];
  class Failing {
    onModuleInit() {
      throw new Error("cannot start");
    }
  }
  await assert.rejects(
    createTestApplication(module({ providers: [recorder(log, "one"), Failing] })),
    { message: "cannot start" },
  );
  assert.deepEqual(log, [
    "one init",
    "one shutdown undefined",
    "one destroy",
    "one dispose",
  ]);
});

const GET_SECRET = new Request("http://localhost/secret");

const STARTS: Readonly<Record<string, (app: FwApplication) => unknown>> = {
  "fetch()": (app) => app.fetch(GET_SECRET),
  "listen()": (app) => app.listen(0, { hostname: "127.0.0.1" }),
  "listenGraceful()": (app) => app.listenGraceful(0, { hostname: "127.0.0.1" }),
};

for (const [name, start] of Object.entries(STARTS)) {
  test(`${name} does not serve until every start hook of a global guard has succeeded`, () =>
    captureLogs(["fw"], async () => {
      const log: string[] = [];
      const failures = ["init", "bootstrap"];
      class Policy implements CanActivate {
        #isLoaded = false;
        async onModuleInit() {
          log.push("init");
          await Promise.resolve();
          if (failures[0] === "init") throw new Error(`no ${failures.shift()}`);
          this.#isLoaded = true;
        }
        onApplicationBootstrap() {
          log.push("bootstrap");
          if (failures[0] === "bootstrap") throw new Error(`no ${failures.shift()}`);
        }
        canActivate() {
          return !this.#isLoaded;
        }
      }
      class SecretController extends controller() {
        secret = route.get("/secret", () => "secret");
      }
      await using app = await FwFactory.create(module({
        controllers: [SecretController],
        providers: [recorder(log, "provider")],
      }));
      app.useGlobalGuards(Policy);
      for (const failure of [...failures]) {
        await assert.rejects(async () => await start(app), { message: `no ${failure}` });
      }
      await start(app);
      assert.equal((await app.fetch(GET_SECRET)).status, 403);
      assert.deepEqual(log, [
        "provider init",
        "provider bootstrap",
        "init",
        "init",
        "bootstrap",
        "bootstrap",
      ]);
    }));
}
