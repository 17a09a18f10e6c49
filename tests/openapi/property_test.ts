/** Requests generated from the served document alone, and the check of the responses against it. */
import assert from "node:assert/strict";
import * as demo from "../../examples/demo.ts";
import * as edge from "../../examples/edge.ts";
import * as hello from "../../examples/hello.ts";
import * as oauth2 from "../../examples/oauth2.ts";
import * as events from "../../examples/server_sent_events.ts";
import * as streaming from "../../examples/streaming.ts";
import * as users from "../../examples/users.ts";
import * as webSocket from "../../examples/web_socket.ts";
import type { FwApplication, Module } from "../../mod.ts";
import { DbOptions } from "../../src/db/mod.ts";
import { createTestApplication, type DevelopmentIdentityProvider } from "../../src/testing/mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { checkAnswers, fetchDocument } from "../support/check_answers.ts";
import { issuer } from "../oauth2/issuer.ts";
import { test, testOnce } from "../support/test.ts";
import { callerOf, forger, nobody, UNDOCUMENTED } from "./callers.ts";
import { createKitchenSink, FAILURE_MEDIA_TYPE } from "./kitchen_sink.ts";
import { checkAnswer } from "../../src/testing/prove/document/check_answer.ts";
import type { TrialResult } from "../../src/testing/prove/document/check_answers.ts";
import type { SentRequest } from "../../src/testing/prove/request/sent_request.ts";
import type { Caller, Send } from "../../src/testing/prove/part.ts";

/** How many requests each application is sent. */
const REQUESTS = {
  users: 1500,
  usersOfTenants: 1500,
  usersOfKnownCallers: 1000,
  usersInHaste: 400,
  usersByHttp: 400,
  edge: 400,
  oauth2: 800,
  demo: 200,
  hello: 100,
  streaming: 300,
  events: 50,
  webSocket: 50,
  kitchenSink: 1000,
  kitchenSinkOften: 5000,
};

testOnce(
  "the answers of the users example are those of its document, for every documented status",
  async () => {
    const tokens = await issuer();
    const tenants = await Promise.all(
      ["t1", "t2", undefined].map((tenant_id) =>
        callerOf(tokens, `a user of ${tenant_id ?? "no tenant"}`, { tenant_id })
      ),
    );
    const limited = [nobody, forger].map((caller) => ({ ...caller, isLimited: true }));
    const hasty = [...limited, ...tenants].map((caller) => ({ ...caller, isHasty: true }));
    const trials: readonly (readonly [
      requests: number,
      callers: readonly Caller[],
      setUp: (app: FwApplication) => FwApplication,
    ])[] = [
      [REQUESTS.users, [nobody], users.setUp],
      [
        REQUESTS.usersOfTenants,
        [...limited, ...tenants],
        (app) => users.setUp(app).useOAuth2(tokens.verifier),
      ],
      [
        REQUESTS.usersOfKnownCallers,
        [nobody, forger, ...tenants],
        (app) => users.setUp(app).useOAuth2(tokens.verifier, { require: true }),
      ],
      [
        REQUESTS.usersInHaste,
        hasty,
        (app) =>
          users.setUp(app).useOAuth2(tokens.verifier).useRateLimit({ name: "haste", max: 100 }),
      ],
    ];
    const results: TrialResult[] = [];
    for (const [requests, callers, setUp] of trials) {
      await using app = await createTestApplication(users.appModule("sqlite::memory:"), { setUp });
      const isHasty = callers.some((caller) => caller.isHasty);
      const result = await checkAnswers({ send: sender(app, { isHasty }), callers, requests });
      assert.equal(result.answers, requests);
      results.push(result);
    }
    assert.deepEqual(statusesOf(results, "seen"), statusesOf(results, "documented"));
  },
  { slow: true },
);

test("the answers of the users example over HTTP are those of its document", () =>
  captureLogs(["fw"], async () => {
    const { setUp } = users;
    await using app = await createTestApplication(users.appModule("sqlite::memory:"), { setUp });
    const { url } = await app.listen(0, { hostname: "127.0.0.1" });
    // clients and servers have limits of their own for the length of a URL
    const send: Send = (path, init) =>
      path.length < 8000 ? fetch(url + path, init) : app.request(path, init);
    const requests = REQUESTS.usersByHttp;
    const { answers } = await checkAnswers({ send, callers: [nobody], requests });
    assert.equal(answers, requests);
  }));

test("the answers of the edge example are those of its document", async () => {
  const tokens = await issuer();
  await using app = await createTestApplication(
    edge.appModule(DbOptions.fromUrl("sqlite::memory:")),
    { setUp: (app) => edge.setUp(app, tokens.verifier) },
  );
  const callers = [nobody, forger, await callerOf(tokens, "ada", {})];
  const { answers } = await checkAnswers({ send: sender(app), callers, requests: REQUESTS.edge });
  assert.equal(answers, REQUESTS.edge);
});

test("the answers of the OAuth2 example are those of its document", () =>
  captureLogs(["fw"], async () => {
    const redirectUri = "http://localhost:3000/auth/callback";
    const { provider, settings } = await oauth2.developmentSettings(0, redirectUri);
    await using _ = provider;
    const root = await oauth2.appModule(settings, redirectUri);
    await using app = await createTestApplication(root, { setUp: (app) => oauth2.setUp(app) });
    const callers = await Promise.all(["alice", "bob"].map(async (subject): Promise<Caller> => ({
      name: subject,
      isKnown: true,
      isLimited: subject === "bob",
      headers: { authorization: `Bearer ${await provider.issueToken({ subject })}` },
    })));
    const { answers } = await checkAnswers({
      send: sender(app),
      callers: [nobody, forger, ...callers],
      requests: REQUESTS.oauth2,
      undocumented: UNDOCUMENTED,
    });
    assert.equal(answers, REQUESTS.oauth2);
    await checkLogin(app, provider);
  }));

for (
  const [name, root, setUp, requests] of [
    ["demo", demo.appModule("sqlite::memory:"), demo.setUp, REQUESTS.demo],
    ["hello", hello.AppModule, (app) => app.setGlobalPrefix("api"), REQUESTS.hello],
    ["streaming", streaming.AppModule, (app) => app, REQUESTS.streaming],
    ["server-sent events", events.AppModule, (app) => app, REQUESTS.events],
    ["WebSocket", webSocket.AppModule, (app) => app, REQUESTS.webSocket],
  ] satisfies readonly (readonly [
    string,
    Module,
    (app: FwApplication) => FwApplication,
    number,
  ])[]
) {
  test(`the answers of the ${name} example are those of its document`, async () => {
    await using app = await createTestApplication(root, {
      setUp: (app) => setUp(app).enableOpenApi(),
    });
    const trial = { send: sender(app), callers: [nobody], requests, undocumented: UNDOCUMENTED };
    try {
      assert.equal((await checkAnswers(trial)).answers, requests);
    } finally {
      await new Promise((resolve) => setTimeout(resolve, 200)); // for streams that were left
    }
  });
}

test("the answers of the kitchen sink are those of its document", () =>
  tryKitchenSink(REQUESTS.kitchenSink));

testOnce(
  "the answers of the kitchen sink to thousands of requests are those of its document",
  () => tryKitchenSink(REQUESTS.kitchenSinkOften),
  { slow: true },
);

async function tryKitchenSink(requests: number): Promise<void> {
  await using sink = await createKitchenSink();
  const { app, issuer } = sink;
  const callers = [
    nobody,
    forger,
    await callerOf(issuer, "bob", {}),
    await callerOf(issuer, "mallory", {}),
    {
      ...await callerOf(issuer, "alice", {
        roles: ["admin", "staff", "boss"],
        scope: "orders:read orders:write vault",
      }),
      isLimited: false,
    },
  ].map((caller): Caller => ({
    ...caller,
    headers: { ...caller.headers, "x-caller": caller.name }, // a guard reads it, which no document describes
  }));
  const { answers } = await checkAnswers({
    send: sender(app),
    jsonPath: "/specs/api.json",
    problemType: FAILURE_MEDIA_TYPE,
    callers,
    requests,
    undocumented: UNDOCUMENTED,
  });
  assert.equal(answers, requests);
}

test("the applications are sent 5000 requests at least", () => {
  assert.ok(Object.values(REQUESTS).reduce((sum, requests) => sum + requests) >= 5000);
});

/** Sends requests to an application: each from another address, unless its callers are hasty. */
function sender(app: FwApplication, { isHasty = false } = {}): Send {
  let requests = 0;
  return (path, init) => {
    const n = isHasty ? 0 : requests++;
    const hostname = `10.${[n >> 16, n >> 8, n].map((part) => part & 255).join(".")}`;
    return app.request(path, { ...init, env: { remoteAddr: { hostname } } });
  };
}

/** Logs in at the OAuth2 example, and checks the answers. */
async function checkLogin(
  app: FwApplication,
  provider: DevelopmentIdentityProvider,
): Promise<void> {
  using document = await fetchDocument(sender(app));
  const check = async (sent: SentRequest) => {
    const operation = document.operationAt(sent.method, sent.path);
    assert.ok(operation);
    const response = await app.request(sent.path, sent);
    const draft = { path: {}, query: [], headers: {} };
    const planned = {
      operation,
      verdict: "valid",
      what: "login",
      caller: nobody,
      draft,
      recall: {},
    } as const;
    return [response, await checkAnswer({ document, planned, sent, response })] as const;
  };
  const [begun] = await check({ method: "GET", path: "/auth/login?return_to=/there", headers: {} });
  const { pathname, search } = new URL(
    provider.signIn(begun.headers.get("location") ?? "", "alice").url,
  );
  const cookie = begun.headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
  const [, { status }] = await check({
    method: "GET",
    path: pathname + search,
    headers: { cookie },
  });
  assert.equal(status, 200);
}

/** Returns the statuses of each operation, of all results together. */
function statusesOf(
  results: readonly TrialResult[],
  which: "seen" | "documented",
): Record<string, readonly number[]> {
  const ids = [...results[0]?.documented.keys() ?? []];
  return Object.fromEntries(ids.map((id) => {
    const statuses = new Set(results.flatMap((result) => [...result[which].get(id) ?? []]));
    return [id, [...statuses].sort()];
  }));
}
