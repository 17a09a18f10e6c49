/** The examples, proved: no hole is found where there is none. */
import assert from "node:assert/strict";
import * as demo from "../../../examples/demo.ts";
import * as edge from "../../../examples/edge.ts";
import * as hello from "../../../examples/hello.ts";
import * as oauth2 from "../../../examples/oauth2.ts";
import * as events from "../../../examples/server_sent_events.ts";
import * as streaming from "../../../examples/streaming.ts";
import * as users from "../../../examples/users.ts";
import * as webSocket from "../../../examples/web_socket.ts";
import { DbOptions } from "../../../src/db/mod.ts";
import { type Proof, prove, type ProveRunOptions } from "../../../src/testing/mod.ts";
import { captureLogs } from "../../support/capture_logs.ts";
import { UNDOCUMENTED } from "../../openapi/callers.ts";
import { test } from "../../support/test.ts";

const MEMORY = "sqlite::memory:";
const undocumented = UNDOCUMENTED;
const callers = { ann: { tenant_id: "a" }, bob: { tenant_id: "b" }, root: { roles: ["admin"] } };

const PROOFS: Readonly<Record<string, Proof>> = {
  users: prove(users.appModule(MEMORY), { setUp: users.setUp }),
  "users of known callers": prove(users.appModule(MEMORY), {
    setUp: (app, { verifier }) => users.setUp(app).useOAuth2(verifier, { require: true }),
    callers,
    revealed: ["users.email", "PATCH /api/v1/users/:id"],
  }),
  edge: prove(edge.appModule(DbOptions.fromUrl(MEMORY)), {
    setUp: (app, { verifier }) => edge.setUp(app, verifier),
    callers,
  }),
  demo: prove(demo.appModule(MEMORY), { setUp: demo.setUp, callers, undocumented }),
  hello: prove(hello.AppModule, { setUp: (app) => app.setGlobalPrefix("api") }),
  streaming: prove(streaming.AppModule, { undocumented }),
  "server-sent events": prove(events.AppModule, { undocumented }),
  WebSocket: prove(webSocket.AppModule, { undocumented }),
};

for (const [name, proof] of Object.entries(PROOFS)) {
  test(`fw prove finds no fault in the ${name} example`, () => isPassed(proof, { requests: 100 }));
}

test("fw prove finds no fault in the OAuth2 example", () =>
  captureLogs(["fw"], async () => {
    const redirectUri = "http://localhost:3000/auth/callback";
    const { provider, settings } = await oauth2.developmentSettings(0, redirectUri);
    await using _ = provider;
    const proof = prove(oauth2.appModule(settings, redirectUri), {
      setUp: (app) => oauth2.setUp(app),
      callers: { alice: { roles: ["admin"] }, bob: {} },
      undocumented,
    });
    await isPassed(proof, { requests: 100 });
  }));

async function isPassed(proof: Proof, options: ProveRunOptions): Promise<void> {
  const report = await proof.run({ seed: 5, ...options });
  try {
    assert.ok(report.isPassed, report.toText());
  } finally {
    await new Promise((resolve) => setTimeout(resolve, 200)); // for streams that were left
  }
}
