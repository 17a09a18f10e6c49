/**
 * Every example, and the application that uses every option of OpenAPI, each on a port of its own.
 * Prints where they are and who may call them, as JSON after `SERVES`.
 */
import * as demo from "../../../examples/demo.ts";
import * as edge from "../../../examples/edge.ts";
import * as hello from "../../../examples/hello.ts";
import * as oauth2 from "../../../examples/oauth2.ts";
import * as events from "../../../examples/server_sent_events.ts";
import * as streaming from "../../../examples/streaming.ts";
import * as users from "../../../examples/users.ts";
import * as webSocket from "../../../examples/web_socket.ts";
import { type FwApplication, FwFactory, type Module } from "../../../mod.ts";
import { DbOptions } from "../../../src/db/mod.ts";
import { issuer } from "../../oauth2/issuer.ts";
import { callerOf, forger, nobody } from "../../openapi/callers.ts";
import { createKitchenSink, FAILURE_MEDIA_TYPE } from "../../openapi/kitchen_sink.ts";
import type { Caller } from "../../../src/testing/prove/part.ts";

/** An application that is served. */
export interface ServedApplication {
  readonly name: string;
  readonly origin: string;
  readonly callers: readonly Caller[];
  /** How many of 100 requests it gets. */
  readonly share: number;
  readonly jsonPath?: string;
  readonly problemType?: string;
}

const LOCAL = { hostname: "127.0.0.1" };
const MEMORY = "sqlite::memory:";

const tokens = await issuer();
const tenants = await Promise.all(
  ["t1", "t2", undefined].map((tenant_id) =>
    callerOf(tokens, `a user of ${tenant_id ?? "no tenant"}`, { tenant_id })
  ),
);
const limited = [nobody, forger].map((caller) => ({ ...caller, isLimited: true }));

const served = [
  await serve(await create(users.appModule(MEMORY), users.setUp), {
    name: "users",
    callers: [nobody],
    share: 15,
  }),
  await serve(
    await create(users.appModule(MEMORY), (app) => users.setUp(app).useOAuth2(tokens.verifier)),
    { name: "users of tenants", callers: [...limited, ...tenants], share: 15 },
  ),
  await serve(
    await create(
      users.appModule(MEMORY),
      (app) => users.setUp(app).useOAuth2(tokens.verifier, { require: true }),
    ),
    { name: "users of known callers", callers: [nobody, forger, ...tenants], share: 10 },
  ),
  await serve(
    await create(
      edge.appModule(DbOptions.fromUrl(MEMORY)),
      (app) => edge.setUp(app, tokens.verifier),
    ),
    { name: "edge", callers: [nobody, forger, await callerOf(tokens, "ada", {})], share: 5 },
  ),
  await serveLogin(),
  ...await Promise.all(
    ([
      ["demo", demo.appModule(MEMORY), demo.setUp, 3],
      ["hello", hello.AppModule, (app) => app.setGlobalPrefix("api"), 2],
      ["streaming", streaming.AppModule, (app) => app, 2],
      ["server-sent events", events.AppModule, (app) => app, 1],
      ["WebSocket", webSocket.AppModule, (app) => app, 1],
    ] satisfies readonly (readonly [
      string,
      Module,
      (app: FwApplication) => FwApplication,
      number,
    ])[]).map(async ([name, root, setUp, share]) =>
      serve(await create(root, (app) => setUp(app).enableOpenApi()), {
        name,
        callers: [nobody],
        share,
      })
    ),
  ),
  await serveKitchenSink(),
];
console.log(`SERVES ${JSON.stringify(served)}`);

async function create(
  root: Module,
  setUp: (app: FwApplication) => FwApplication,
): Promise<FwApplication> {
  return setUp(await FwFactory.create(root)).useTrustedProxy({ hops: 1 });
}

async function serve(
  app: FwApplication,
  served: Omit<ServedApplication, "origin">,
): Promise<ServedApplication> {
  const { url } = await app.listen(0, LOCAL);
  return { ...served, origin: url };
}

async function serveLogin(): Promise<ServedApplication> {
  const redirectUri = "http://localhost:3000/auth/callback";
  const { provider, settings } = await oauth2.developmentSettings(0, redirectUri);
  const callers = await Promise.all(["alice", "bob"].map(async (subject): Promise<Caller> => {
    const token = await provider.issueToken({ subject, expiresInSeconds: 24 * 3600 });
    const headers = { authorization: `Bearer ${token}` };
    return { name: subject, isKnown: true, isLimited: subject === "bob", headers };
  }));
  const app = await create(
    await oauth2.appModule(settings, redirectUri),
    (app) => oauth2.setUp(app),
  );
  return serve(app, { name: "oauth2", callers: [nobody, forger, ...callers], share: 8 });
}

async function serveKitchenSink(): Promise<ServedApplication> {
  const { app, issuer } = await createKitchenSink();
  const cook = await callerOf(issuer, "alice", {
    roles: ["admin", "staff", "boss"],
    scope: "orders:read orders:write vault",
  });
  const callers = [
    nobody,
    forger,
    await callerOf(issuer, "bob", {}),
    await callerOf(issuer, "mallory", {}),
    { ...cook, isLimited: false },
  ].map((caller) => ({
    ...caller,
    headers: { ...caller.headers, "x-caller": caller.name }, // a guard reads it
  }));
  return serve(app, {
    name: "every option",
    callers,
    share: 38,
    jsonPath: "/specs/api.json",
    problemType: FAILURE_MEDIA_TYPE,
  });
}
