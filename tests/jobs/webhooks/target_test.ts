import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import {
  addressesOf,
  dnsResolve,
  systemResolve,
  TargetError,
  targetUrl,
} from "../../../src/jobs/webhooks/target.ts";
import { test } from "../../support/test.ts";

/** Hosts that lead into a network of the application, in every notation that URLs accept. */
const REFUSED_HOSTS = [
  ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "0.0.0.0"],
  ...["10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "198.18.0.1"],
  ...["192.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
  ...["[::]", "[::1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[fe80::1]"],
  ...["[fc00::1]", "[fd12:3456::1]", "[fec0::1]", "[ff02::1]", "[64:ff9b::7f00:1]"],
  ...["[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]", "[100::1]"],
];

const resolve = (host: string) => Promise.reject(new Error(`${host} is not resolved`));

test("addressesOf() refuses addresses that are not public, in every notation", async () => {
  for (const host of REFUSED_HOSTS) {
    const url = targetUrl(`https://${host}/`, { allowLocal: false });
    await assert.rejects(
      addressesOf(url, { allowLocal: false, resolve }),
      new TargetError("its host has an address that is not public"),
      host,
    );
    assert.equal((await addressesOf(url, { allowLocal: true, resolve })).length, 1);
  }
});

test("addressesOf() refuses localhost, as the system resolves it", async () => {
  const url = targetUrl("https://localhost/", { allowLocal: false });
  await assert.rejects(
    addressesOf(url, { allowLocal: false, resolve: systemResolve }),
    new TargetError("its host has an address that is not public"),
  );
});

test("a name server that does not answer holds no thread of the process", async () => {
  const silent = createSocket("udp4");
  await new Promise<void>((resolve) => silent.bind(0, "127.0.0.1", resolve));
  const servers = [`127.0.0.1:${silent.address().port}`];
  const asked = Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => dnsResolve(`host${i}.example`, servers)),
  );
  const other = systemResolve("localhost").then(() => "resolved");
  assert.equal(await Promise.race([other, asked]), "resolved");
  assert.ok((await asked).every(({ status }) => status === "rejected"));
  silent.close();
}, { slow: true });

test("addressesOf() checks every address of a name", async () => {
  const options = (addresses: readonly string[]) => ({
    allowLocal: false,
    resolve: () => Promise.resolve(addresses),
  });
  const url = new URL("https://hooks.invalid/");
  assert.deepEqual(await addressesOf(url, options(["8.8.8.8", "2606:4700::1"])), [
    { address: "8.8.8.8", family: 4 },
    { address: "2606:4700::1", family: 6 },
  ]);
  for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1"]) {
    await assert.rejects(addressesOf(url, options(["8.8.8.8", address])), TargetError);
  }
  await assert.rejects(
    addressesOf(url, options([])),
    new TargetError("the name of its host has no address"),
  );
  await assert.rejects(addressesOf(url, { allowLocal: false, resolve }), {
    message: "the name of its host cannot be resolved",
  });
});
