import { isIP } from "node:net";
import assert from "node:assert/strict";
import fc from "fast-check";
import { Hono } from "hono";
import { clientIp, networkOf, parseIp, trustedProxy } from "../../src/middleware/client_ip.ts";
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

test("clientIp() returns an IPv4 peer of a dual-stack socket as IPv4", async () => {
  const server = await serve(app, { hostname: "::" });
  try {
    assert.equal(await (await fetch(`http://127.0.0.1:${server.port}/`)).json(), "127.0.0.1");
    assert.equal(await (await fetch(`http://[::1]:${server.port}/`)).json(), "::1");
  } finally {
    await server.close();
  }
});

test("clientIp() is undefined without a socket", async () => {
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

test("trustedProxy() ignores entries that the client has added in front", async () => {
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

test("parseIp() returns the canonical form of an address", () => {
  const canonical = {
    "192.0.2.1": "192.0.2.1",
    "0.0.0.0": "0.0.0.0",
    "255.255.255.255": "255.255.255.255",
    "::ffff:192.0.2.1": "192.0.2.1",
    "::FFFF:192.0.2.1": "192.0.2.1",
    "0:0:0:0:0:ffff:192.0.2.1": "192.0.2.1",
    "::ffff:c000:201": "192.0.2.1",
    "::1": "::1",
    "::": "::",
    "2001:DB8:0:0:0:0:0:1": "2001:db8::1",
    "2001:db8:0:1:1:1:1:1": "2001:db8:0:1:1:1:1:1",
    "fe80::1%eth0": "fe80::1",
    "64:ff9b::192.0.2.33": "64:ff9b::c000:221",
  };
  for (const [text, expected] of Object.entries(canonical)) assert.equal(parseIp(text), expected);
});

test("parseIp() returns undefined for anything but an address", () => {
  const texts = [
    "",
    "unknown",
    "_hidden",
    "localhost",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.01",
    "192.0.2.1.1",
    "0x7f.1",
    "2130706433",
    " 192.0.2.1",
    "192.0.2.1\n",
    "192.0.2.1:80",
    "[::1]",
    "::1]",
    ":::",
    "1::2::3",
    "12345::",
    "2001:db8::g",
    "1:2:3:4:5:6:7",
    "::a:",
    "a::b:",
    "::ffff:192.0.2.256",
    "::1%",
    "::1%a]/",
    "::1/64",
  ];
  for (const text of texts) assert.equal(parseIp(text), undefined, text);
});

test("parseIp() handles a hostile text in linear time", () => {
  const texts = [":", "1", "1.", "a:", "::1%", "::1%a"].map((part) => `${part.repeat(50_000)}!`);
  const startMs = performance.now();
  for (const text of texts) assert.equal(parseIp(text), undefined);
  assert(performance.now() - startMs < 1_000, "in linear time");
});

test("parseIp() agrees with the runtime's own parser", () => {
  // Without IPv4 embedded in IPv6 (1::2:3:4:192.0.2.1), which Bun's URL parser sometimes refuses
  const addresses = fc.oneof(fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{0,20}$/))
    .filter((text) => !/:.*\./.test(text));
  fc.assert(fc.property(addresses, (text) => {
    assert.equal(parseIp(text) !== undefined, isIP(text) !== 0, text);
  }));
});

test("networkOf() is the address for IPv4 and the /64 for IPv6", () => {
  const networks = {
    "192.0.2.1": "192.0.2.1",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:db8::1": "2001:db8:0:0::/64",
    "2001:db8:1:2::": "2001:db8:1:2::/64",
    "1:2:3::8": "1:2:3:0::/64",
    "::1": "0:0:0:0::/64",
    "::": "0:0:0:0::/64",
  };
  for (const [ip, network] of Object.entries(networks)) assert.equal(networkOf(ip), network);
});

test("networkOf() is the same for two addresses exactly when their first 64 bits are", () => {
  const word = fc.integer({ min: 0, max: 0xffff }).map((bits) => bits.toString(16));
  const half = fc.array(word, { minLength: 4, maxLength: 4 });
  fc.assert(fc.property(half, half, half, (network, one, other) => {
    const [a, b, c] = [[...network, ...one], [...network, ...other], [...one, ...network]]
      .map((groups) => networkOf(parseIp(groups.join(":")) ?? ""));
    // a mapped IPv4 address is its own network
    fc.pre(a?.includes(":") === true && b?.includes(":") === true && c?.includes(":") === true);
    assert.equal(a, b);
    assert.equal(a === c, network.join() === one.join());
  }));
});
