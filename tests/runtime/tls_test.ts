import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { connect as connectHttp2 } from "node:http2";
import { controller, FwFactory, module, route } from "../../mod.ts";
import type { HttpServer } from "../../src/runtime/http_server.ts";
import { ListenError } from "../../src/runtime/listen_error.ts";
import { serve } from "../../src/runtime/listen.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import { LOCALHOST } from "./certificate_fixture.ts";
import { RawClient } from "./raw_client.ts";
import { RUNTIME } from "./runtime_name.ts";

const SECURE = { port: 0, hostname: "127.0.0.1", tls: LOCALHOST };

test("app.listen() serves HTTPS with a certificate, and the URLs of requests have https", () =>
  captureLogs(["fw"], async () => {
    class UrlController extends controller() {
      url = route.get("/url", (_, c) => c.req.url);
    }
    await using app = await FwFactory.create(module({ controllers: [UrlController] }));
    const { port, url } = await app.listen(0, { hostname: "127.0.0.1", tls: LOCALHOST });
    assert.equal(url, `https://127.0.0.1:${port}`);
    using client = await RawClient.connect({ url, port });
    client.send(["GET /url HTTP/1.1", "Host: example.com"]);
    await client.take(/"https:\/\/example\.com\/url"/);
    using old = await RawClient.connect({ url, port });
    old.send(["GET /url HTTP/1.0"]);
    assert.match(await old.end(), /"https:\/\/[\w.:]+\/url"/);
  }));

test("serve() refuses an invalid certificate or key with the same message on every runtime", async () => {
  const { cert, key } = LOCALHOST;
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const encrypted = { cipher: "aes-256-cbc", passphrase: "p" } as const;
  const notPem = "the certificate is not in PEM";
  const notKey = "the key is not an unencrypted private key in PEM";
  const cases = [
    [{ cert: "", key }, notPem],
    [{ cert: key, key }, notPem],
    [{ cert: cert.replace(/\n.{9}/, "\n"), key }, notPem],
    [{ cert: new Uint8Array() as unknown as string, key }, notPem],
    [{ cert, key: "" }, notKey],
    [{ cert, key: cert }, notKey],
    [{ cert } as typeof LOCALHOST, notKey],
    [{ cert, key: other.export({ type: "pkcs8", format: "pem", ...encrypted }) }, notKey],
    [
      { cert, key: other.export({ type: "pkcs8", format: "pem" }) },
      "the key does not belong to the certificate",
    ],
  ] as const;
  for (const [tls, reason] of cases) {
    const error = await serve(() => new Response(), { ...SECURE, tls: tls as typeof LOCALHOST })
      .then(() => {}, (error) => error);
    assert.ok(error instanceof ListenError, reason);
    assert.deepEqual([error.code, error.message], [
      "InvalidCertificate",
      `Cannot listen on 127.0.0.1:0: ${reason}`,
    ]);
  }
});

test("serve() supports HTTP/2 over TLS on Deno", async () => {
  await using server = await serve(({ url }) => new Response(new URL(url).protocol), SECURE);
  const session = connectHttp2(server.url, { ca: LOCALHOST.cert, servername: "localhost" });
  const protocol = await new Promise((resolve) => {
    session.on("error", () => resolve("HTTP/1.1 alone"));
    const stream = session.request({ ":path": "/" }).on("error", () => {});
    stream.setEncoding("utf8").on("data", resolve);
  });
  session.destroy();
  assert.equal(protocol, RUNTIME === "deno" ? "https:" : "HTTP/1.1 alone");
});

test("HttpServer.close() of HTTPS closes idle connections at once", async () => {
  const server = await serve(() => new Response("ok"), SECURE);
  // Deno waits up to `drainMs` for a connection in a TLS handshake.
  using _silent = RUNTIME === "deno" ? undefined : await RawClient.connect(overTcp(server));
  using idle = await RawClient.connect(server);
  idle.send(["GET / HTTP/1.1", "Host: localhost"]);
  await idle.until(/ok/);
  const started = performance.now();
  await server.close();

  assert.ok(performance.now() - started < 5_000);
  await idle.end();
});

function overTcp({ url, port }: HttpServer): Pick<HttpServer, "url" | "port"> {
  return { url: url.replace("https", "http"), port };
}
