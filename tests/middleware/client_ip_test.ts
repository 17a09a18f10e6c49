import assert from "node:assert/strict";
import { Hono } from "hono";
import { clientIp, trustedProxy } from "../../src/middleware/client_ip.ts";
import { test } from "../support/test.ts";
import { serve } from "./serve.ts";

const app = new Hono().get("/", (c) => c.json(clientIp(c) ?? null));

test("clientIp() is the address of the socket's peer on this runtime", async () => {
  const server = await serve(app);
  try {
    const forged = { headers: { "x-forwarded-for": "192.0.2.1", "forwarded": "for=192.0.2.1" } };
    const response = await fetch(`http://127.0.0.1:${server.port}/`, forged);
    assert.equal(await response.json(), "127.0.0.1");
  } finally {
    await server.close();
  }
});

test("clientIp() gives an IPv4 peer of a dual-stack socket as IPv4", async () => {
  const server = await serve(app, { hostname: "::" });
  try {
    assert.equal(await (await fetch(`http://127.0.0.1:${server.port}/`)).json(), "127.0.0.1");
    assert.equal(await (await fetch(`http://[::1]:${server.port}/`)).json(), "::1");
  } finally {
    await server.close();
  }
});

test("clientIp() is undefined where there is no socket", async () => {
  const environments = [
    undefined,
    {},
    { remoteAddr: { transport: "unix", path: "/run/app.sock" } },
    { incoming: { socket: {} } },
    { requestIP: () => null },
    { KV: {} },
  ];
  for (const env of environments) {
    assert.equal(await (await app.request("/", {}, env)).json(), null);
  }
});

const SOCKET = { remoteAddr: { hostname: "10.0.0.1" } };

async function seen(hops: number, forwardedFor?: string, env: object = SOCKET): Promise<unknown> {
  const app = new Hono().use(trustedProxy({ hops })).get("/", (c) => c.json(clientIp(c) ?? null));
  const headers = new Headers();
  if (forwardedFor !== undefined) headers.set("x-forwarded-for", forwardedFor);
  return await (await app.request("/", { headers }, env)).json();
}

test("trustedProxy() takes the hops-th entry from the right", async () => {
  const list = "198.51.100.9, 203.0.113.7, 10.0.0.2";
  assert.equal(await seen(1, list), "10.0.0.2");
  assert.equal(await seen(2, list), "203.0.113.7");
  assert.equal(await seen(3, list), "198.51.100.9");
});

test("trustedProxy() does not believe what the client put in front", async () => {
  assert.equal(await seen(1, "127.0.0.1, 192.0.2.66, 203.0.113.7"), "203.0.113.7");
});

test("trustedProxy() takes the leftmost entry of a shorter list, the socket without one", async () => {
  assert.equal(await seen(5, "203.0.113.7, 10.0.0.2"), "203.0.113.7");
  assert.equal(await seen(1), "10.0.0.1");
  assert.equal(await seen(1, ""), "10.0.0.1");
});

test("trustedProxy() stops before an entry that is not an address", async () => {
  for (const entry of ["unknown", "_x", "203.0.113", "203.0.113.7.", "a]", "[::1", "", "1,"]) {
    assert.equal(await seen(1, `203.0.113.7, ${entry}`), "10.0.0.1", entry);
    assert.equal(await seen(3, `203.0.113.7, ${entry}, 10.0.0.2`), "10.0.0.2", entry);
  }
});

test("trustedProxy() reads ports, brackets and IPv6", async () => {
  const entries = {
    "203.0.113.7:4711": "203.0.113.7",
    "2001:DB8::1": "2001:db8::1",
    "[2001:db8::1]": "2001:db8::1",
    "[2001:db8::1]:443": "2001:db8::1",
    "::ffff:203.0.113.7": "203.0.113.7",
    "  203.0.113.7\t": "203.0.113.7",
  };
  for (const [entry, ip] of Object.entries(entries)) assert.equal(await seen(1, entry), ip);
});

test("trustedProxy() works behind a proxy that connects without an IP socket", async () => {
  assert.equal(await seen(1, "203.0.113.7", {}), "203.0.113.7");
  assert.equal(await seen(1, undefined, {}), null);
});

test("trustedProxy() refuses hops that are not a positive integer", () => {
  for (const hops of [0, -1, 1.5, NaN, Infinity]) {
    assert.throws(() => trustedProxy({ hops }), {
      name: "RangeError",
      message: `Cannot trust proxies: ${hops} hops is not a positive integer`,
    });
  }
});
