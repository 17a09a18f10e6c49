import assert from "node:assert/strict";
import { Hono } from "hono";
import { clientIp } from "../../src/middleware/client_ip.ts";
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
