import assert from "node:assert/strict";
import { isIP } from "node:net";
import fc from "fast-check";
import { networkOf, parseIp } from "../../src/middleware/ip_address.ts";
import { test } from "../support/test.ts";

test("parseIp() gives the canonical form of an address", () => {
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

test("parseIp() refuses what is not an address", () => {
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

test("parseIp() refuses a hostile text at once", () => {
  const texts = [":", "1", "1.", "a:", "::1%", "::1%a"].map((part) => `${part.repeat(50_000)}!`);
  const startMs = performance.now();
  for (const text of texts) assert.equal(parseIp(text), undefined);
  assert(performance.now() - startMs < 1_000, "in linear time");
});

test("parseIp() agrees with the runtime's own parser", () => {
  // Without IPv4 embedded in IPv6 (1::2:3:4:192.0.2.1), which Bun's URL parser refuses at times
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
    // A mapped IPv4 address is one of its own
    fc.pre(a?.includes(":") === true && b?.includes(":") === true && c?.includes(":") === true);
    assert.equal(a, b);
    assert.equal(a === c, network.join() === one.join());
  }));
});
