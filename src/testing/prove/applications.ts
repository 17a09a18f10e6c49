/**
 * The applications of a run: with callers, databases of their own, and no server.
 *
 * @module
 */
import { configureSync, getConfig, resetSync } from "@logtape/logtape";
import type { FwApplication } from "../../application/application.ts";
import { JwtService } from "../../authn/jwt_service.ts";
import type { Module } from "../../core/module/module.ts";
import { keyOf } from "../../core/module/provider.ts";
import { JwtVerifier } from "../../oauth2/resource_server/jwt_verifier.ts";
import { ValidationConfig } from "../../oauth2/resource_server/validation_config.ts";
import { DevelopmentIdentityProvider } from "../identity_provider/development_identity_provider.ts";
import { createTestApplication } from "../test_application.ts";
import type { ProveIdentity, ProveOptions, ProveRunOptions } from "./options.ts";
import { ownDatabases } from "./own_databases.ts";
import {
  expiredCaller,
  type ProvidedKeys,
  providedKeys,
  type Replacements,
  replacements,
  signIn,
  type Signing,
} from "./replacements.ts";
import { ANONYMOUS, RunEnded, type Send, type StartedApplication } from "./part.ts";
import { tokenHeadersOf } from "./token_headers.ts";

/** The `aud` of the tokens. */
const AUDIENCE = "prove";

/** What applications of a run share. */
interface Shared {
  readonly root: Module;
  readonly options: ProveOptions;
  readonly identity: ProveIdentity;
  readonly keys: ProvidedKeys;
  readonly replaced: Replacements;
  /** The URL of the server of the databases. */
  readonly database: string | undefined;
  /** Ends the silence of the log. */
  readonly unmute: () => void;
}

/** Starts applications of one module, whose callers have tokens of one identity provider. */
export class Applications implements AsyncDisposable {
  readonly #shared: Shared;
  /** Those that start, or are not closed. */
  readonly #started = new Set<Promise<StartedApplication>>();
  #isOver = false;

  private constructor(shared: Shared) {
    this.#shared = shared;
  }

  /**
   * Starts the identity provider.
   *
   * @throws {TypeError} if `FW_ENV` is `production`
   */
  static async open(
    root: Module,
    options: ProveOptions,
    { database }: Pick<ProveRunOptions, "database">,
  ): Promise<Applications> {
    const keys = await providedKeys(root);
    const unmute = mute();
    let provider: DevelopmentIdentityProvider | undefined;
    try {
      provider = await DevelopmentIdentityProvider.start({ audience: AUDIENCE, users: [] });
      const config = new ValidationConfig().withIssuer(provider.issuer).withAudience(AUDIENCE);
      const verifier = await JwtVerifier.fromUrl(provider.jwksUrl, config);
      const identity = { provider, verifier };
      const replaced = await replacements(keys, identity);
      return new Applications({ root, options, identity, keys, replaced, database, unmute });
    } catch (error) {
      try {
        await provider?.close();
      } finally {
        unmute();
      }
      throw error;
    }
  }

  /**
   * Starts an application with empty databases.
   *
   * @throws {RunEnded} if the run was aborted
   */
  async start(): Promise<StartedApplication> {
    this.#checkRuns();
    const starting = this.#start();
    this.#started.add(starting);
    const forget = () => this.#started.delete(starting);
    starting.catch(forget);
    const started = await starting;
    const close = async () => {
      await started[Symbol.asyncDispose]();
      forget();
    };
    const whileRunning = (send: Send): Send => (path, init) => {
      this.#checkRuns();
      return send(path, init);
    };
    return {
      ...started,
      send: whileRunning(started.send),
      sendHastily: whileRunning(started.sendHastily),
      [Symbol.asyncDispose]: close,
    };
  }

  /** Closes the applications of a run that was aborted, and stops the identity provider. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    try {
      const started = await Promise.allSettled(this.#started);
      await Promise.allSettled(
        started.map((it) => it.status === "fulfilled" && it.value[Symbol.asyncDispose]()),
      );
      await this.#shared.identity.provider.close();
    } finally {
      this.#shared.unmute();
    }
  }

  #checkRuns(): void {
    if (this.#isOver) throw new RunEnded("Cannot go on: the run was aborted");
  }

  async #start(): Promise<StartedApplication> {
    const { root, options, identity, keys, replaced, database } = this.#shared;
    const { setUp, overrides = [], callers = {}, migrations } = options;
    const own = typeof overrides === "function" ? overrides(identity) : overrides;
    const ownKeys = new Set(own.map(keyOf));
    const provided = [
      ...replaced.providers,
      ...ownDatabases(keys.databases, { database, migrations }),
    ];
    const app = await createTestApplication(root, {
      overrides: [...own, ...provided.filter((each) => !ownKeys.has(keyOf(each)))],
      setUp: (app) => setUp?.(app, identity),
    });
    const close = () => app.close({ drainMs: 0 });
    try {
      const signing: Signing = {
        identity,
        issuer: keys.hasIssuer ? app : undefined,
        outdated: keys.hasIssuer && !ownKeys.has(JwtService) ? replaced.outdated : undefined,
        tokenHeaders: await tokenHeadersOf(app),
      };
      return {
        app,
        databases: keys.databases.map((database) => app.get(database)),
        ...await signInAll(callers, signing),
        forger: { ...ANONYMOUS, name: "forger", headers: signing.tokenHeaders("a.b.c") },
        send: senderOf(app),
        sendHastily: (path, init) => app.request(path, { ...init, env: ONE_ADDRESS }),
        [Symbol.asyncDispose]: close,
      };
    } catch (error) {
      await close().catch(() => {}); // the first error is the cause
      throw error;
    }
  }
}

/** Signs the callers in, and returns them with one whose token has expired. */
async function signInAll(
  callers: NonNullable<ProveOptions["callers"]>,
  signing: Signing,
): Promise<Pick<StartedApplication, "callers" | "expired">> {
  const [first = {}] = Object.values(callers);
  return {
    callers: await Promise.all(
      Object.entries(callers).map(([name, caller]) => signIn(name, caller, signing)),
    ),
    expired: await expiredCaller(first, signing),
  };
}

/**
 * Keeps the log from the console, unless LogTape is configured: a line for each request would take
 * as long as the request. Returns what undoes that.
 */
function mute(): () => void {
  if (getConfig() !== null) return () => {};
  configureSync({
    sinks: {},
    loggers: [{ category: ["logtape", "meta"], sinks: [], lowestLevel: "error" }],
  });
  return resetSync;
}

/** The address of a client that makes more requests than it may (RFC 5737). */
const ONE_ADDRESS = { remoteAddr: { hostname: "192.0.2.1" } };

/** Sends each request from another address, so that no rate limit is reached. */
function senderOf(app: FwApplication): Send {
  let requests = 0;
  return (path, init) => {
    const n = requests++;
    const hostname = `10.${[n >> 16, n >> 8, n].map((part) => part & 255).join(".")}`;
    return app.request(path, { ...init, env: { remoteAddr: { hostname } } });
  };
}
