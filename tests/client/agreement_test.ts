/** A client and a server agree on random routes: what arrives on each side is what was sent. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { createClient } from "../../src/client/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test, testOnce } from "../support/test.ts";
import { checkCall, type UntypedCalls } from "./agreement/check_call.ts";
import { callsOf, type PlannedCall } from "./agreement/planned_call.ts";
import { type PlannedRoute, ROUTES } from "./agreement/planned_route.ts";
import {
  calledPath,
  PREFIX,
  serve,
  type ServedRoute,
  type Versioning,
} from "./agreement/served_routes.ts";

/** A route, and calls of it. */
interface Trial {
  readonly plan: PlannedRoute;
  readonly calls: readonly PlannedCall[];
}

const TRIALS: fc.Arbitrary<Trial> = ROUTES.chain((plan) =>
  fc.record({
    plan: fc.constant(plan),
    calls: fc.array(callsOf(plan), { minLength: 1, maxLength: 3 }),
  })
);

const APPLICATIONS = fc.record({
  versioning: fc.constantFrom<Versioning>("path", "header"),
  trials: fc.array(TRIALS, { minLength: 1, maxLength: 5 }),
});

test("a client and a server agree on the calls of random routes", () => agree(30));

testOnce(
  "a client and a server agree on the calls of thousands of random routes",
  () => agree(500),
  {
    slow: true,
  },
);

/** Checks random applications; a handler that violates its schema is logged. */
function agree(numRuns: number): Promise<void> {
  const property = fc.asyncProperty(APPLICATIONS, check);
  return captureLogs(["fw"], () => fc.assert(property, { numRuns, reporter: report }));
}

interface Application {
  readonly versioning: Versioning;
  readonly trials: readonly Trial[];
}

async function check({ versioning, trials }: Application): Promise<void> {
  const routes = trials.map(({ plan }): ServedRoute => ({ plan, next: undefined, received: [] }));
  const app = await serve(routes, versioning);
  const server = await app.listen(0, { hostname: "127.0.0.1" });
  try {
    for (const [i, { calls }] of trials.entries()) {
      const served = routes[i]!;
      for (const call of calls) {
        const { version } = call;
        const path = calledPath(routes, { served, version, versioning });
        const headers = versioning === "header" && version ? { "api-version": version } : {};
        for (
          const { [call.method]: calls } of [
            createClient(`http://localhost${PREFIX}/`, { fetch: app.fetch, headers }),
            createClient(new URL(PREFIX, server.url), { headers }),
          ]
        ) await checkCall(calls as object as UntypedCalls, { path, served, call });
      }
    }
  } finally {
    await app.close();
  }
}

/** Reports the smallest application that fails, without the others. */
function report({ failed, seed, numRuns, errorInstance }: fc.RunDetails<[Application]>): void {
  if (failed) assert.fail(`application ${numRuns} of seed ${seed}: ${String(errorInstance)}`);
}
