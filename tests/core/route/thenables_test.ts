import assert from "node:assert/strict";
import { controller, type Extractor, FwFactory, module, route } from "../../../mod.ts";
import { test } from "../../support/test.ts";

/** Values that are no promises and that `await` waits for. */
const THENABLES: Readonly<Record<string, <T>(value: T) => Promise<T>>> = {
  object: (value) => ({ then: (resolve: (value: unknown) => void) => resolve(value) }) as never,
  function: (value) =>
    Object.assign(() => {}, {
      then: (resolve: (value: unknown) => void) => resolve(value),
    }) as never,
  proxy: (value) =>
    new Proxy({}, {
      get: (_, key) => key === "then" ? (resolve: (v: unknown) => void) => resolve(value) : 1,
    }) as never,
};

for (const [kind, later] of Object.entries(THENABLES)) {
  test(`a route waits for what guards, extractors, interceptors and handlers return (${kind})`, async () => {
    const refused: Extractor<string> = () =>
      ({
        then: (_: unknown, reject: (error: Error) => void) => reject(new Error("refused")),
      }) as never;
    class LaterController extends controller() {
      open = route.get("/open", {
        guards: [() => later(true)],
        args: { word: () => later("a") },
        interceptors: [async (_, next) => later({ got: await next() })],
      }, ({ word }) => later({ word }));
      closed = route.get("/closed", { guards: [() => later(false)] }, () => "let in");
      refused = route.get("/refused", { args: { refused } }, () => "let in");
    }
    const app = await FwFactory.create(module({ controllers: [LaterController] }));
    const open = await app.request("/open");
    assert.deepEqual([open.status, await open.json()], [200, { got: { word: "a" } }]);
    assert.equal((await app.request("/closed")).status, 403);
    assert.equal((await app.request("/refused")).status, 500);
  });
}
