/**
 * What the application shares by Redis: a rate limit over every route, and pending logins at an
 * identity provider.
 */
import { Redis } from "ioredis";
import * as v from "valibot";
import {
  controller,
  environment,
  type FwApplication,
  inject,
  type Module,
  module,
  type OnModuleDestroy,
  provide,
  rateLimit,
  RedisRateLimitStore,
  route,
} from "../../../mod.ts";
import {
  OAuth2Client,
  OAuth2Login,
  OAuth2Options,
  RedisLoginStore,
} from "../../../src/oauth2/mod.ts";

const { REDIS_URL, RATE_LIMIT, LOGIN_ISSUER } = environment(v.object({
  REDIS_URL: v.optional(v.string()),
  RATE_LIMIT: v.optional(v.string(), "100"),
  LOGIN_ISSUER: v.optional(v.string()),
}));

/** The client of the identity provider at `LOGIN_ISSUER`. */
export const LOGIN_CLIENT = {
  clientId: "shop",
  clientSecret: "the-secret-of-the-shop",
  redirectUri: "http://127.0.0.1:9/api/auth/callback",
} as const;

/** The window of the limit, longer than any scenario. */
export const WINDOW_MS = 600_000;

class SharedRedis implements OnModuleDestroy {
  readonly client = new Redis(REDIS_URL ?? "");

  constructor() {
    this.client.on("error", () => {}); // the store reports what it means
  }

  onModuleDestroy(): void {
    this.client.disconnect();
  }
}

const Login = provide("login", () =>
  new OAuth2Login(inject(OAuth2Client), {
    scopes: ["openid"],
    store: new RedisLoginStore(inject(SharedRedis).client),
  }));

class AuthController extends controller("auth", { public: true }) {
  readonly #login = inject(Login);

  login = route.get("/login", (_, c) => this.#login.begin(c));
  callback = route.get("/callback", async (_, c) => {
    const { claims } = await this.#login.finish(c);
    return { subject: claims?.sub };
  });
}

/** The modules with `REDIS_URL`, and with `LOGIN_ISSUER`. */
export async function redisModules(): Promise<readonly Module[]> {
  if (!REDIS_URL) return [];
  const shared = module({ name: "RedisModule", providers: [SharedRedis], exports: [SharedRedis] });
  if (!LOGIN_ISSUER) return [shared];
  const client = new OAuth2Client(await OAuth2Options.discover(LOGIN_ISSUER, LOGIN_CLIENT));
  const login = module({
    name: "LoginModule",
    imports: [shared],
    providers: [provide(OAuth2Client, () => client), Login],
    controllers: [AuthController],
  });
  return [shared, login];
}

/** Limits each client, by the address that a proxy forwards, to `RATE_LIMIT` requests. */
export function limitByRedis(app: FwApplication): void {
  if (!REDIS_URL) return;
  const store = new RedisRateLimitStore(app.get(SharedRedis).client);
  app.useTrustedProxy({ hops: 1 })
    .use(rateLimit({ name: "shared", max: Number(RATE_LIMIT), windowMs: WINDOW_MS, store }));
}
