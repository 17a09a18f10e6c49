import assert from "node:assert/strict";
import { Hono, type MiddlewareHandler } from "hono";
import { hooked, joinHooked, type RequestHooks } from "../../../src/core/module/request_hooks.ts";
import { test } from "../../support/test.ts";

/** Hooks that report when they run. */
function reporting(
  events: string[],
  name: string,
  hooks: Partial<RequestHooks<string>> = {},
): MiddlewareHandler {
  return hooked<string>({
    before: () => {
      events.push(`${name} before`);
      return name;
    },
    after: (c, state, failure) => {
      events.push(`${state} after ${failure ? `failure ${failure.thrown}` : c.res.status}`);
    },
    ...hooks,
  });
}

async function answer(middleware: readonly MiddlewareHandler[]): Promise<Response> {
  const app = new Hono().use(...middleware).get("/", (c) => c.text("ok"));
  return await app.onError(({ message }, c) => c.text(message, 500)).request("/");
}

test("joinHooked() runs hooks of neighbours in order, those after the response in reverse", async () => {
  const events: string[] = [];
  const joined = joinHooked([
    reporting(events, "1"),
    reporting(events, "2", { before: async () => await Promise.resolve("late") }),
    reporting(events, "3", { around: (next, state) => (events.push(`${state} around`), next()) }),
  ]);
  assert.equal(joined.length, 1);
  assert.equal(await (await answer(joined)).text(), "ok");
  assert.deepEqual(events, [
    "1 before",
    "3 before",
    "3 around",
    "3 after 200",
    "late after 200",
    "1 after 200",
  ]);
});

test("joinHooked() leaves other middleware at its place", async () => {
  const events: string[] = [];
  const other: MiddlewareHandler = async (_, next) => {
    events.push("other");
    await next();
  };
  const joined = joinHooked([
    other,
    reporting(events, "1"),
    reporting(events, "2"),
    other,
    reporting(events, "3"),
  ]);
  assert.equal(joined.length, 4);
  await answer(joined);
  assert.deepEqual(events.slice(0, 5), ["other", "1 before", "2 before", "other", "3 before"]);
});

test("joinHooked() passes what a hook throws to those before it, then to the application", async () => {
  const events: string[] = [];
  const joined = joinHooked([
    reporting(events, "1"),
    reporting(events, "2", {
      before: () => {
        throw "refused";
      },
    }),
    reporting(events, "3"),
  ]);
  const response = await answer(joined);
  assert.deepEqual(events, ["1 before", "1 after failure refused"]);
  assert.equal(response.status, 500); // Hono handles nothing but errors
});

test("joinHooked() does not run the handler twice when a later hook fails", async () => {
  let calls = 0;
  const fail = () => {
    throw new Error("broken");
  };
  const joined = joinHooked([hooked({ before: () => {}, after: fail })]);
  const app = new Hono().use(...joined).get("/", (c) => c.text(`${++calls}`));
  const response = await app.onError(({ message }, c) => c.text(message, 500)).request("/");
  assert.equal(`${response.status} ${await response.text()} ${calls}`, "500 broken 1");
});

test("joinHooked() keeps apart what refuses requests, and what follows a span", () => {
  const before = () => {};
  const around: RequestHooks["around"] = (next) => next();
  const cases: readonly (readonly [RequestHooks[], number])[] = [
    [[{ before }, { before, around }], 1],
    [[{ before, around }, { before }], 2],
    [[{ before }, { before, refuses: true }, { before }], 2],
  ];
  for (const [hooks, functions] of cases) {
    assert.equal(joinHooked(hooks.map((each) => hooked(each))).length, functions);
  }
});

test("joinHooked() runs the outer hooks although an inner one fails", async () => {
  const events: string[] = [];
  const fail = () => {
    throw new Error("broken");
  };
  await answer(joinHooked([reporting(events, "1"), hooked({ before: () => {}, after: fail })]));
  assert.deepEqual(events, ["1 before", "1 after failure Error: broken"]);
});
