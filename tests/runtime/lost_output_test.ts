import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../support/free_port.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

const FIXTURE = "tests/runtime/lost_output_fixture.ts";
const FULL = "/dev/full";
const skip = existsSync(FULL) ? undefined : `needs Linux: there is no ${FULL}`;

const ENDS = [
  { how: "listen", end: "/close", code: 0 },
  { how: "listenGraceful", end: "SIGTERM", code: 0 },
  { how: "listenGraceful", end: "/reject", code: 1 },
];

for (const { how, end, code } of ENDS) {
  for (const FW_ENV of ["development", "production"]) {
    const name =
      `a server whose log cannot be written serves until ${end} ends ${how}(): ${FW_ENV}`;
    test(name, async () => {
      const port = await freePort();
      await using child = new Subprocess(FIXTURE, {
        args: [port, how],
        env: { FW_ENV },
        outputTo: FULL,
      });
      await child.accepts(port);
      for (let round = 0; round < 5; round++) {
        assert.equal(await statusOf(port, "/ok"), 200);
        assert.equal(await statusOf(port, "/signal"), 200);
        assert.equal(await statusOf(port, "/error"), 500);
        await delay(30); // for lines that are printed together
      }
      if (end === "SIGTERM") child.kill(end);
      else await statusOf(port, end);
      assert.equal((await child.ended).code, code);
    }, { skip });
  }
}

test("listenGraceful() ends although each failure that it logs raises another", async () => {
  const port = await freePort();
  await using child = new Subprocess(FIXTURE, { args: [port, "listenGraceful", "failing"] });
  await child.accepts(port);
  await statusOf(port, "/reject");
  assert.deepEqual(await child.ended, { code: 1, output: "100 records\n" });
});

test("listenGraceful() ends although a sink never writes", async () => {
  const port = await freePort();
  const args = [port, "listenGraceful", "hanging"];
  await using child = new Subprocess(FIXTURE, { args, maxRunMs: 30_000 });
  await child.accepts(port);
  await statusOf(port, "/reject");
  assert.deepEqual(await child.ended, { code: 1, output: "1 records\n" });
}, { slow: true });

for (const end of ["SIGTERM", "/reject"]) {
  test(`a reader that is slow gets all lines that were logged before ${end}`, async () => {
    const port = await freePort();
    await using child = new Subprocess(FIXTURE, { args: [port, "listenGraceful"] });
    await child.accepts(port);
    {
      using _ = child.pauseOutput();
      const logged = statusOf(port, "/many").catch(() => {}); // where writes wait for the reader
      await delay(300);
      if (end === "SIGTERM") child.kill(end);
      else void statusOf(port, end).catch(() => {});
      await delay(1500); // twice as long as an idle server takes to stop
      void logged;
    }
    const { code, output } = await child.ended;
    assert.equal(code, end === "SIGTERM" ? 0 : 1);
    assert.equal(output.match(/line \d+ x{100}\n/g)?.length, 3000);
    if (end === "/reject") assert.match(output, /nothing catches this/);
  });
}

async function statusOf(port: number, path: string): Promise<number> {
  const { status, body } = await fetch(`http://127.0.0.1:${port}${path}`);
  await body?.cancel();
  return status;
}
