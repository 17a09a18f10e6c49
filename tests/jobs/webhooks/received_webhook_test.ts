import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import * as v from "valibot";
import { type Context, controller, FwFactory, module, route } from "../../../mod.ts";
import { webhook, type WebhookSecrets } from "../../../src/jobs/mod.ts";
import { test } from "../../support/test.ts";

const OLD = `whsec_${btoa("o".repeat(24))}`;
const NEW = `whsec_${btoa("n".repeat(64))}`;
const Paid = v.object({ type: v.literal("paid"), data: v.object({ id: v.string() }) });
const BODY = `{"type":"paid", "data":{"id":"é1"}}`;

/** The headers of a webhook that is sent now, or so many seconds later. */
function signed(
  body: string,
  secret: string,
  { seconds = 0, id = "msg_1" } = {},
): Record<string, string> {
  const at = new Date(Date.now() + seconds * 1000);
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}

/** An application whose route returns the webhooks that it receives. */
async function receiver(secrets: WebhookSecrets) {
  class Hooks extends controller("hooks") {
    paid = route.post(
      "/:tenant",
      { args: { event: webhook(Paid, secrets) } },
      ({ event }) => event,
    );
  }
  const app = await FwFactory.create(module({ name: "AppModule", controllers: [Hooks] }));
  const post = async (body: BodyInit, headers: Record<string, string>, tenant = "a") => {
    const response = await app.request(`/hooks/${tenant}`, { method: "POST", body, headers });
    const { detail, ...rest } = await response.json();
    return [response.status, detail ?? rest];
  };
  return { app, post };
}

const REFUSED = "The signature of the webhook is missing or invalid, or more than 5 minutes old";

test("webhook() returns what is signed by any of the secrets, over a socket", async () => {
  const { app } = await receiver([NEW, OLD]);
  const { url } = await app.listen(0, { hostname: "127.0.0.1" });
  for (const secret of [OLD, NEW]) {
    const headers = signed(BODY, secret);
    const response = await fetch(`${url}/hooks/a`, { method: "POST", body: BODY, headers });
    assert.deepEqual([response.status, await response.json()], [200, {
      id: "msg_1",
      timestamp: new Date(Number(headers["webhook-timestamp"]) * 1000).toJSON(),
      body: { type: "paid", data: { id: "é1" } },
    }]);
  }
  await app.close();
});

test("webhook() accepts one valid signature among several", async () => {
  const { post } = await receiver(NEW);
  const headers = signed(BODY, NEW);
  const others = `v1a,${"x".repeat(44)} ${signed(BODY, OLD)["webhook-signature"]}`;
  headers["webhook-signature"] = `${others} ${headers["webhook-signature"]}`;
  assert.equal((await post(BODY, headers))[0], 200);
});

test("webhook() refuses other secrets, ids, times and bodies with 401", async () => {
  const { post } = await receiver(NEW);
  const headers = signed(BODY, NEW);
  const { "webhook-id": _id, ...withoutId } = headers;
  const { "webhook-signature": _signature, ...withoutSignature } = headers;
  const { "webhook-timestamp": _timestamp, ...withoutTimestamp } = headers;
  const refused: readonly (readonly [body: string, headers: Record<string, string>])[] = [
    [BODY, signed(BODY, OLD)],
    [BODY.replace("1", "2"), headers],
    [BODY.replace(" ", ""), headers], // the same JSON in other bytes
    [`\uFEFF${BODY}`, headers],
    [BODY, { ...headers, "webhook-id": "msg_2" }],
    [BODY, { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) }],
    [BODY, { ...headers, "webhook-timestamp": "soon" }],
    [BODY, { ...headers, "webhook-timestamp": `${headers["webhook-timestamp"]}s` }],
    [BODY, { ...headers, "webhook-timestamp": "" }],
    [BODY, { ...headers, "webhook-signature": "v1" }],
    [BODY, { ...headers, "webhook-signature": headers["webhook-signature"]!.slice(0, -1) }],
    [BODY, { ...headers, "webhook-signature": headers["webhook-signature"]!.replace("1", "2") }],
    [BODY, withoutId],
    [BODY, withoutSignature],
    [BODY, withoutTimestamp],
  ];
  for (const [body, sent] of refused) assert.deepEqual(await post(body, sent), [401, REFUSED]);
  assert.equal((await post(BODY, headers))[0], 200);
});

test("webhook() refuses a webhook that was sent more than 5 minutes ago or ahead", async () => {
  const { post } = await receiver(NEW);
  const statuses = [];
  for (const seconds of [-310, -290, 290, 310]) {
    statuses.push((await post(BODY, signed(BODY, NEW, { seconds })))[0]);
  }
  assert.deepEqual(statuses, [401, 200, 200, 401]);
});

test("webhook() refuses an id that is too long for a singleton key with 401", async () => {
  const { post } = await receiver(NEW);
  const statuses = [];
  for (const id of ["m".repeat(150), "m".repeat(151)]) {
    const [status, body] = await post(BODY, signed(BODY, NEW, { id }));
    statuses.push(status, body.id?.length ?? body);
  }
  const detail = "The id of the webhook has more than 150 characters";
  assert.deepEqual(statuses, [200, 150, 401, detail]);
});

test("webhook() validates a body after its signature", async () => {
  const { post } = await receiver(NEW);
  const other = `{"type":"refunded","data":{"id":"1"}}`;
  assert.deepEqual(await post(other, signed(other, OLD)), [401, REFUSED]);
  assert.deepEqual(await post(other, signed(other, NEW)), [
    422,
    "The body does not satisfy its schema",
  ]);
  assert.deepEqual(await post("{", signed("{", NEW)), [400, "The body is not valid JSON"]);
  const asText = { ...signed(BODY, NEW), "content-type": "text/plain" };
  assert.equal((await post(BODY, asText))[0], 415);
  const bytes = new Uint8Array([0x22, 0xff, 0x22]);
  assert.deepEqual(await post(bytes, signed('"\uFFFD"', NEW)), [401, REFUSED]);
});

test("webhook() refuses invalid headers before it reads the body or asks for secrets", async () => {
  const { app } = await receiver(() => assert.fail("it is called"));
  const headers = signed(BODY, NEW);
  for (
    const invalid of [
      { "webhook-id": "" },
      { "webhook-id": "m".repeat(151) },
      { "webhook-timestamp": "1" },
      { "webhook-signature": `v1,${"x".repeat(43)}` },
    ]
  ) {
    const body = new ReadableStream({ pull: () => assert.fail("it is read") }, {
      highWaterMark: 0,
    });
    const request = new Request("http://localhost/hooks/a", {
      method: "POST",
      body,
      headers: { ...headers, ...invalid },
      duplex: "half",
    } as RequestInit);
    assert.equal((await app.fetch(request)).status, 401);
  }
});

test("webhook() hashes a large body beside the event loop", async () => {
  const { app, post } = await receiver([NEW, OLD]);
  app.useBodyLimit(5_000_000);
  const body = JSON.stringify({ type: "paid", data: { id: "x".repeat(4_000_000) } });
  const startMs = performance.now();
  const forged = signed(body, `whsec_${btoa("f".repeat(24))}`);
  const hashMs = performance.now() - startMs; // by JavaScript, which blocks the event loop
  let shortestMs = Infinity;
  for (let attempt = 0; attempt < 10 && shortestMs > hashMs / 2; attempt++) {
    let longestMs = 0;
    let turnMs = performance.now();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - turnMs);
      turnMs = performance.now();
    });
    assert.deepEqual(await post(body, forged), [401, REFUSED]);
    clearInterval(timer);
    shortestMs = Math.min(shortestMs, Math.max(longestMs, performance.now() - turnMs));
  }
  assert.ok(shortestMs < hashMs / 2, `${shortestMs} ms of ${hashMs}`);
});

test("webhook() reads no more than the limit of bodies", async () => {
  class Hooks extends controller("hooks") {
    paid = route.post(
      "/",
      { args: { event: webhook(Paid, NEW) }, bodyLimit: 10 },
      () => assert.fail("it is called"),
    );
  }
  const app = await FwFactory.create(module({ name: "AppModule", controllers: [Hooks] }));
  const headers = signed(BODY, NEW);
  const { status } = await app.request("/hooks", { method: "POST", body: BODY, headers });
  assert.equal(status, 413);
});

test("webhook() asks a function for the secrets of a request", async () => {
  const byTenant: Record<string, string> = { a: OLD, b: NEW, c: "whsec_short" };
  const { post } = await receiver(async (c: Context) => {
    await Promise.resolve();
    return byTenant[c.req.param("tenant") ?? ""]!;
  });
  const statuses = [];
  for (const tenant of ["a", "b", "c", "d"]) {
    statuses.push((await post(BODY, signed(BODY, OLD), tenant))[0]);
  }
  assert.deepEqual(statuses, [200, 401, 500, 500]);
});

test("webhook() refuses invalid secrets and schemas at once, without quoting them", () => {
  const invalid = 'the secret is not "whsec_" and the base64 of 24 to 64 bytes';
  const refused: readonly (readonly [secrets: unknown, message: string])[] = [
    [undefined, "the secret is undefined"],
    ["", invalid],
    ["whsec_", invalid],
    [btoa("n".repeat(24)), invalid],
    [`v1,${NEW}`, invalid],
    [`whsec_${btoa("n".repeat(23))}`, invalid],
    [`whsec_${btoa("n".repeat(65))}`, invalid],
    [`${NEW}!`, invalid],
    [[NEW, "secret"], invalid],
    [[], "there are no secrets"],
  ];
  for (const [secrets, reason] of refused) {
    assert.throws(
      () => webhook(Paid, secrets as string),
      new TypeError(`Cannot verify webhooks: ${reason}`),
    );
  }
  assert.throws(
    () => webhook(NEW as never, NEW),
    new TypeError("Cannot verify webhooks: the first argument is not a Standard Schema"),
  );
});

test("the document has the body, the headers and the statuses of a webhook", async () => {
  const { app } = await receiver(NEW);
  const { paths } = await app.openApi();
  const { parameters, requestBody, responses } = paths["/hooks/{tenant}"]!.post!;
  assert.deepEqual(
    parameters?.map(({ in: where, name, required }) => [where, name, required]),
    [
      ["path", "tenant", true],
      ["header", "webhook-id", true],
      ["header", "webhook-timestamp", true],
      ["header", "webhook-signature", true],
    ],
  );
  assert.deepEqual(Object.keys(requestBody?.content ?? {}), ["application/json"]);
  assert.deepEqual(Object.keys(responses), [
    ...["200", "400", "401", "404", "413", "415", "422"],
  ]);
});
