import assert from "node:assert/strict";
import { portFromEnv, readEnv } from "../../src/platform/env.ts";
import { test } from "../support/test.ts";
import { withEnv } from "../support/with_env.ts";

test("portFromEnv() returns an unsigned 16-bit integer, otherwise the fallback", async () => {
  const ports: [string | undefined, number][] = [
    ["0", 0],
    ["8080", 8080],
    ["65535", 65535],
    ["65536", 3000],
    ["-1", 3000],
    ["80.0", 3000],
    ["1e3", 3000],
    ["0x50", 3000],
    [" 80", 3000],
    ["http", 3000],
    ["", 3000],
    [undefined, 3000],
  ];
  for (const [text, port] of ports) {
    await withEnv("PORT", text, () => assert.equal(portFromEnv(), port, text));
  }
});

test("portFromEnv() reads another variable and returns another fallback", async () => {
  await withEnv("ADMIN_PORT", "9000", () => assert.equal(portFromEnv("ADMIN_PORT", 1), 9000));
  await withEnv("ADMIN_PORT", undefined, () => assert.equal(portFromEnv("ADMIN_PORT", 1), 1));
});

test("readEnv() returns undefined for a missing variable, and on a runtime without a process", async () => {
  await withEnv("FW_TEST", "x", () => assert.equal(readEnv("FW_TEST"), "x"));
  await withEnv("FW_TEST", undefined, () => assert.equal(readEnv("FW_TEST"), undefined));
  const own = Object.getOwnPropertyDescriptor(globalThis, "process")!;
  try {
    Object.defineProperty(globalThis, "process", { value: undefined, configurable: true });
    assert.equal(readEnv("PATH"), undefined);
  } finally {
    Object.defineProperty(globalThis, "process", own);
  }
});
