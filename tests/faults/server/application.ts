/**
 * The application that the suite breaks: the users of the example, orders, and what takes time. On
 * `DATABASE_URL`; with `ISSUER` every route needs a token of that identity provider. With
 * `LIMITED_CLIENTS` it reads the addresses of clients from a proxy, and counts so many of them; with
 * `MEASURED` it reports what it uses; with `REDIS_URL` it shares a rate limit, and with
 * `LOGIN_ISSUER` logins.
 */
import { streamSSE, streamText } from "hono/streaming";
import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import {
  controller,
  environment,
  FwFactory,
  MemoryRateLimitStore,
  module,
  portFromEnv,
  route,
  upgradeWebSocket,
} from "../../../mod.ts";
import { Db, setUp, UsersController, UsersService } from "../../../examples/users.ts";
import { DbModule, DbOptions } from "../../../src/db/mod.ts";
import { JwksCache, JwtVerifier, ValidationConfig } from "../../../src/oauth2/mod.ts";
import { ordersModule } from "./orders.ts";
import { limitByRedis, redisModules } from "./shared_redis.ts";
import { statementsModule } from "./statements.ts";

const {
  DATABASE_URL,
  STATEMENT_TIMEOUT_MS,
  POOL_MAX,
  ISSUER,
  DRAIN_MS,
  LIMITED_CLIENTS,
  MEASURED,
} = environment(v.object({
  DATABASE_URL: v.string(),
  POOL_MAX: v.optional(v.string(), "10"),
  LIMITED_CLIENTS: v.optional(v.string()),
  MEASURED: v.optional(v.string()),
  STATEMENT_TIMEOUT_MS: v.optional(v.string(), "3000"),
  ISSUER: v.optional(v.string()),
  DRAIN_MS: v.optional(v.string(), "10000"),
}));

class SlowController extends controller("slow") {
  /** Waits, then responds. */
  wait = route.get("/wait/:ms", { params: v.object({ ms: v.string() }) }, async ({ params }) => {
    await delay(Number(params.ms));
    return { waited: params.ms };
  });

  /** Ten lines in a second. */
  lines = route.get("/lines", (_, c) =>
    streamText(c, async (stream) => {
      for (let line = 1; line <= 10 && !stream.aborted; line++) {
        await stream.writeln(String(line));
        await stream.sleep(100);
      }
    }));

  /** An event each 100 ms, for as long as the client listens. */
  events = route.get("/events", (_, c) =>
    streamSSE(c, async (stream) => {
      for (let id = 1; !stream.aborted; id++) {
        await stream.writeSSE({ event: "tick", id: String(id), data: "tick" });
        await stream.sleep(100);
      }
    }));

  /** Counts the bytes of its body. */
  upload = route.post("/upload", async (_, c) => {
    const body = await c.req.arrayBuffer();
    return { bytes: body.byteLength };
  });

  echo = route.get("/echo", { public: true }, (_, c) =>
    upgradeWebSocket(c, {
      onMessage: (event, socket) => socket.send(`echo ${event.data}`),
    }));
}

const options = DbOptions.fromUrl(DATABASE_URL).statementTimeoutMs(Number(STATEMENT_TIMEOUT_MS))
  .transactionTimeoutMs(2 * Number(STATEMENT_TIMEOUT_MS))
  .acquireTimeoutMs(Number(STATEMENT_TIMEOUT_MS)).poolMax(Number(POOL_MAX));
// it counts the timers that others set
const measured = MEASURED
  ? [(await import("./measures.ts")).measuresModule, statementsModule(options)]
  : [];
const AppModule = module({
  name: "AppModule",
  imports: [
    DbModule.forRoot(Db, options),
    ordersModule(options),
    ...measured,
    ...await redisModules(),
  ],
  providers: [UsersService],
  controllers: [UsersController, SlowController],
});
const app = setUp(await FwFactory.create(AppModule));
limitByRedis(app);
if (ISSUER) {
  const config = new ValidationConfig("ES256").withIssuer(ISSUER).withAudience("shop");
  app.useOAuth2(new JwtVerifier(new JwksCache(`${ISSUER}/jwks`), config), { require: true });
}
if (LIMITED_CLIENTS) {
  const store = new MemoryRateLimitStore({ maxKeys: Number(LIMITED_CLIENTS) });
  app.useTrustedProxy({ hops: 1 })
    .useRateLimit({ name: "addresses", max: 1_000_000, windowMs: 3_600_000, store });
}
await app.listenGraceful(portFromEnv(), { hostname: "127.0.0.1", drainMs: Number(DRAIN_MS) });
