/**
 * Routes that read every kind of input, a WebSocket, and routes of every protection; it knows nobody.
 * It reports which handlers were reached that nobody may reach.
 */
import * as v from "valibot";
import {
  controller,
  FwFactory,
  module,
  portFromEnv,
  rateLimit,
  route,
  upgradeWebSocket,
} from "../../../mod.ts";
import { JwksCache, JwtVerifier, ValidationConfig } from "../../../src/oauth2/mod.ts";
import { type Report, REQUESTS_OF_A_CLIENT } from "./hostile_limits.ts";
import { protectedModule } from "./protected.ts";
import { REACHED } from "./reached.ts";

/** Handlers of the protected module that are public. */
const PUBLIC = /^OpenController|\.help$|\.status$|\.terms$/;

const reached = new Set<string>();
const fields = v.record(v.string(), v.unknown());

class InputController extends controller("input", { public: true }) {
  json = route.post("/json", { body: v.unknown() }, ({ body }) => ({ size: sizeOf(body) }));
  form = route.post(
    "/form",
    { body: fields, consumes: ["form", "multipart"] },
    ({ body }) => ({ size: sizeOf(body) }),
  );
  text = route.post("/text", async (_, c) => ({ size: (await c.req.text()).length }));
  query = route.get("/query", { query: fields }, ({ query }) => ({ size: sizeOf(query) }));
  path = route.get("/path/:name", ({ params }) => ({ size: params.name.length }));
  unread = route.post("/unread", () => ({ size: 0 }));
  limited = route.get("/limited", () => ({ size: 0 }));
}

class SocketController extends controller("socket", { public: true }) {
  echo = route.get(
    "/echo",
    (_, c) => upgradeWebSocket(c, { onMessage: ({ data }, socket) => socket.send(String(data)) }),
  );
}

class ReportController extends controller("", { public: true }) {
  /** A request that was hidden in the body or behind the head of another one. */
  smuggled = route.get("/smuggled/:name", ({ params }) => {
    reached.add(`smuggled: ${params.name}`);
    return { reached: params.name };
  });

  report = route.get("/report", (): Report => ({
    reached: [...reached],
    isPolluted: "polluted" in {},
  }));
}

const root = module({
  name: "ClientsModule",
  imports: [protectedModule],
  controllers: [InputController, SocketController, ReportController],
});
const nobody = new ValidationConfig("EdDSA").withIssuer("http://127.0.0.1:9").withAudience("shop");
const app = (await FwFactory.create(root))
  .useRequestId()
  .useTrustedProxy({ hops: 1 })
  .use(async (c, next) => {
    await next();
    const name = c.res.headers.get(REACHED);
    if (name && !PUBLIC.test(name)) reached.add(name);
  })
  .use(
    "/input/limited",
    rateLimit({ name: "addresses", max: REQUESTS_OF_A_CLIENT, windowMs: 3_600_000 }),
  )
  .useOAuth2(new JwtVerifier(new JwksCache("http://127.0.0.1:9/jwks"), nobody), { require: true });
await app.listenGraceful(portFromEnv(), { hostname: "127.0.0.1" });

function sizeOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}
