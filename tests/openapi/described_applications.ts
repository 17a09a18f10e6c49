/**
 * The examples and the kitchen sink, each with its document served.
 *
 * @module
 */
import * as demo from "../../examples/demo.ts";
import * as edge from "../../examples/edge.ts";
import { AppModule as HelloModule } from "../../examples/hello.ts";
import * as oauth2 from "../../examples/oauth2.ts";
import { AppModule as EventsModule } from "../../examples/server_sent_events.ts";
import { AppModule as StreamingModule } from "../../examples/streaming.ts";
import * as users from "../../examples/users.ts";
import { AppModule as WebSocketModule } from "../../examples/web_socket.ts";
import type { FwApplication, Module } from "../../mod.ts";
import { DbOptions } from "../../src/db/mod.ts";
import { createTestApplication } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { issuer } from "../oauth2/issuer.ts";
import { createKitchenSink, KITCHEN_SINK_OPTIONS } from "./kitchen_sink.ts";

/** An application that serves its document. */
export interface DescribedApplication {
  readonly name: string;
  readonly app: FwApplication;
  readonly jsonPath: string;
}

const CALLBACK = "http://localhost:3000/auth/callback";

/** Calls a function with each of the applications while it runs. */
export async function forEachApplication(
  body: (described: DescribedApplication) => Promise<void>,
): Promise<void> {
  const describe = async (
    name: string,
    root: Module,
    setUp: (app: FwApplication) => FwApplication,
  ) => {
    await using app = await createTestApplication(root, { setUp });
    await body({ name, app, jsonPath: "/openapi.json" });
  };
  // applications that do not serve a document
  const withDocument = (app: FwApplication) => app.enableOpenApi();
  await captureLogs(["fw"], async () => {
    const inApi = (app: FwApplication) => withDocument(app).setGlobalPrefix("api");
    await describe("hello", HelloModule, inApi);
    await describe("streaming", StreamingModule, withDocument);
    await describe("server_sent_events", EventsModule, withDocument);
    await describe("web_socket", WebSocketModule, withDocument);
    const database = "sqlite::memory:";
    await describe("demo", demo.appModule(database), (app) => withDocument(demo.setUp(app)));
    await describe("users", users.appModule(database), users.setUp);

    const { verifier } = await issuer();
    await describe(
      "users_with_tokens",
      users.appModule(database),
      (app) => users.setUp(app).useOAuth2(verifier, { require: true }),
    );

    await describe(
      "edge",
      edge.appModule(DbOptions.fromUrl(database)),
      (app) => edge.setUp(app, verifier),
    );

    const { provider, settings } = await oauth2.developmentSettings(0, CALLBACK);
    await using _ = provider;
    const { OAUTH2_DOCS_CLIENT_ID: docs } = settings;
    const module = await oauth2.appModule(settings, CALLBACK);
    await describe("oauth2", module, (app) => oauth2.setUp(app, docs));

    await using sink = await createKitchenSink();
    const { jsonPath } = KITCHEN_SINK_OPTIONS;
    await body({ name: "kitchen_sink", app: await sink.app.ready(), jsonPath });
  });
}

/** Returns the documents that the applications serve, by the names of the applications. */
export async function servedDocuments(): Promise<Readonly<Record<string, object>>> {
  const documents: Record<string, object> = {};
  await forEachApplication(async ({ name, app, jsonPath }) => {
    documents[name] = await (await app.request(jsonPath)).json();
  });
  return documents;
}
