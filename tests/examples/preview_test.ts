import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as demo from "../../examples/demo.ts";
import * as edge from "../../examples/edge.ts";
import * as hello from "../../examples/hello.ts";
import * as oauth2 from "../../examples/oauth2.ts";
import * as orders from "../../examples/orders.ts";
import * as events from "../../examples/server_sent_events.ts";
import * as streaming from "../../examples/streaming.ts";
import * as users from "../../examples/users.ts";
import * as webSocket from "../../examples/web_socket.ts";
import { type FwApplication, FwFactory, type Module } from "../../mod.ts";
import { DbOptions } from "../../src/db/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { issuer } from "../oauth2/issuer.ts";
import { ROOT } from "../support/project.ts";
import { test } from "../support/test.ts";

type SetUp = (app: FwApplication) => FwApplication;

/** A database, and one that cannot be opened. */
const [DATABASE, NO_DATABASE] = ["sqlite::memory:", "postgresql://nobody@127.0.0.1:1/nothing"];

const withDocument: SetUp = (app) => app.setGlobalPrefix("api").enableOpenApi();

const EXAMPLES: readonly (readonly [
  name: string,
  modules: readonly [own: Module, previewed: Module],
  setUp: SetUp,
])[] = [
  ["demo", [demo.appModule(DATABASE), demo.appModule(NO_DATABASE)], demo.setUp],
  [
    "edge",
    [edge.appModule(DbOptions.fromUrl(DATABASE)), edge.appModule(DbOptions.fromUrl(NO_DATABASE))],
    (app) => edge.setUp(app, { verify: () => Promise.reject(new Error("No token is sent here")) }),
  ],
  ["hello", [hello.AppModule, hello.AppModule], withDocument],
  ["orders", [orders.appModule(DATABASE), orders.appModule(NO_DATABASE)], orders.setUp],
  ["server_sent_events", [events.AppModule, events.AppModule], withDocument],
  ["streaming", [streaming.AppModule, streaming.AppModule], withDocument],
  ["users", [users.appModule(DATABASE), users.appModule(NO_DATABASE)], users.setUp],
  ["web_socket", [webSocket.AppModule, webSocket.AppModule], withDocument],
];

async function assertSame([own, previewed]: readonly [Module, Module], setUp: SetUp) {
  await using app = await createTestApplication(own, { setUp });
  const preview = setUp(await FwFactory.create(previewed, { preview: true }));
  assert.deepEqual(preview.routes(), app.routes());
  assert.deepEqual(await preview.openApi(), await app.openApi());
  assert.notEqual(preview.routes().length, 0);
}

for (const [name, modules, setUp] of EXAMPLES) {
  test(`a preview of the example ${name} has its document`, () => assertSame(modules, setUp));
}

test("a preview of the example oauth2 has its document", () =>
  captureLogs(["fw"], async () => {
    const { verifier } = await issuer();
    const redirectUri = "http://localhost:3000/auth/callback";
    const { provider, settings } = await oauth2.developmentSettings(0, redirectUri);
    await using _ = provider;
    const root = await oauth2.appModule(settings, redirectUri);
    // its `setUp` resolves providers of the application
    await assertSame([root, root], (app) => app.useOAuth2(verifier, { require: true }));
  }));

test("every example is previewed", () => {
  const files = readdirSync(join(ROOT, "examples")).filter((file) => file.endsWith(".ts"));
  const names = [...EXAMPLES.map(([name]) => `${name}.ts`), "oauth2.ts"];
  assert.deepEqual(files.sort(), names.sort());
});
