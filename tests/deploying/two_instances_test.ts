import assert from "node:assert/strict";
import { request } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { testTwoInstances } from "./two_instances.ts";

testTwoInstances(
  "two instances that start together migrate once, and read each other's writes",
  async ({ origin, token }) => {
    const added = await addNote(origin, { token, text: "tea" });
    assert.deepEqual(await notes(origin, token), ["first", "tea"]);
    const next = await addNote(origin, { token, text: "milk" });
    assert.deepEqual([added.status, next.status], [201, 201]);
    assert.deepEqual(await notes(origin, token), ["first", "tea", "milk"]);
    const refused = [1, 2].map(() => addNote(origin, { token: "x", text: "no" }));
    assert.deepEqual(
      (await Promise.all(refused)).toSorted((a, b) => a.by.localeCompare(b.by)),
      [{ status: 401, by: "0" }, { status: 401, by: "1" }],
    );
  },
  { slow: true },
);

testTwoInstances(
  "two instances share one rate limit for a client of the proxy",
  async ({ origin }) => {
    const answers: Limited[] = [];
    for (let i = 0; i < 8; i++) answers.push(await limited(origin, "127.0.0.2"));
    assert.deepEqual(
      answers.map(({ status, ip }) => [status, ip]),
      [...Array(5).fill([200, "127.0.0.2"]), ...Array(3).fill([429, undefined])],
    );
    const byInstance = Map.groupBy(answers, ({ by }) => by);
    assert.deepEqual([...byInstance.values()].map(({ length }) => length), [4, 4]);
    assert.equal((await limited(origin, "127.0.0.3")).status, 200);
  },
  { slow: true },
);

testTwoInstances(
  "a login that one of two instances began can be finished by the other",
  async ({ origin, provider }) => {
    const begun = await fetch(`${origin}/auth/login`, { redirect: "manual" });
    await begun.body?.cancel();
    const [cookie = ""] = begun.headers.getSetCookie();
    const callback = provider.signIn(begun.headers.get("location") ?? "", "bob");
    const finished = await fetch(callback.url, { headers: { cookie: cookie.split(";")[0]! } });
    assert.deepEqual(await finished.json(), { subject: "bob" });
    const by = [begun, finished].map(({ headers }) => headers.get("x-instance"));
    assert.deepEqual(by.toSorted(), ["0", "1"]);
  },
  { slow: true },
);

testTwoInstances(
  "no request is lost when one of two instances stops under load",
  async ({ origin, token, instances: [one] }) => {
    const answers: Answer[] = [];
    let running = true;
    const clients = Array.from({ length: 8 }, async () => {
      while (running) answers.push(await addNote(origin, { token, text: "tea" }));
    });
    const enough = async (count: number) => {
      while (answers.length < count) await delay(10);
    };
    await enough(100);
    one.kill("SIGTERM");
    const { code, output } = await one.ended;
    const atEnd = answers.length;
    await enough(atEnd + 50);
    running = false;
    await Promise.all(clients);
    assert.equal(code, 0, output);
    assert.deepEqual(answers.filter(({ status }) => status !== 201), []);
    const instances = (some: readonly Answer[]) => [...new Set(some.map(({ by }) => by))].sort();
    assert.deepEqual(instances(answers.slice(0, 100)), ["0", "1"]);
    assert.deepEqual(instances(answers.slice(atEnd + clients.length)), ["1"]);
    assert.equal((await notes(origin, token)).length, answers.length + 1);
  },
);

/** The status of a response and its instance, or the failure that the proxy reports. */
interface Answer {
  readonly status: number;
  readonly by: string;
}

interface Limited extends Answer {
  readonly ip: unknown;
}

interface NewNote {
  readonly token: string;
  readonly text: string;
}

async function addNote(origin: string, { token, text }: NewNote): Promise<Answer> {
  const response = await fetch(`${origin}/notes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  await response.body?.cancel();
  const { headers, status } = response;
  return { status, by: headers.get("x-instance") ?? `nobody: ${headers.get("x-proxy")}` };
}

async function notes(origin: string, token: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${token}` };
  return await (await fetch(`${origin}/notes`, { headers })).json() as string[];
}

/** Calls a limited route from an address of this machine, with another one in X-Forwarded-For. */
function limited(origin: string, localAddress: string): Promise<Limited> {
  const headers = { "x-forwarded-for": "203.0.113.1" };
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}/limited`, { localAddress, headers, agent: false });
    sent.on("response", async (response) => {
      const { ip } = await readJson(response) as { ip?: string };
      const by = String(response.headers["x-instance"]);
      resolve({ status: response.statusCode ?? 0, ip, by });
    });
    sent.on("error", reject).end();
  });
}
