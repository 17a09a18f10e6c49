/** Somebody without a key of the provider, who sends tokens all the time. */
import { setTimeout as delay } from "node:timers/promises";
import {
  base64url,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWK,
  SignJWT,
} from "jose";
import type { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import { JwksServer } from "../../oauth2/resource_server/jwks_server.ts";

type Forge = () => string | Promise<string>;

/** Options of {@linkcode Forger.start}. */
export interface ForgerOptions {
  readonly provider: DevelopmentIdentityProvider;
  /** The issuer and the application, as the application knows them. */
  readonly issuer: string;
  readonly origin: string;
}

/** How long it waits after an answer, in milliseconds. */
const PAUSE_MS = 50;

/** Sends forged tokens of every kind, of each one after the other. */
export class Forger implements AsyncDisposable {
  /** The key set of the forger. */
  readonly keys: JwksServer;
  sent = 0;
  /** What was answered otherwise than by a refusal. */
  readonly letIn: string[] = [];
  readonly #origin: string;
  #isRunning = true;
  readonly #running: Promise<unknown>;

  private constructor(
    keys: JwksServer,
    { forgeries, origin }: { readonly forgeries: Record<string, Forge>; readonly origin: string },
  ) {
    this.keys = keys;
    this.#origin = origin;
    this.#running = Promise.all(
      Object.entries(forgeries).map(([kind, forge]) => this.#repeat(kind, forge)),
    );
  }

  /** Starts to send. */
  static async start({ provider, issuer, origin }: ForgerOptions): Promise<Forger> {
    const claims = { iss: issuer };
    const valid = await provider.issueToken({ subject: "alice", claims });
    const [header = "", payload = "", signature = ""] = valid.split(".");
    const { kid } = JSON.parse(new TextDecoder().decode(base64url.decode(header)));
    const { keys: [published] } = await (await fetch(provider.jwksUrl)).json() as { keys: [JWK] };
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const jwk = await exportJWK(publicKey);
    const ownKid = await calculateJwkThumbprint(jwk);
    const server = await JwksServer.start({ ...jwk, kid: ownKid, alg: "ES256", use: "sig" });

    const forged = JSON.parse(new TextDecoder().decode(base64url.decode(payload)));
    const sign = (members: object) =>
      new SignJWT(forged).setProtectedHeader({ alg: "ES256", ...members }).sign(privateKey);
    const secret = new TextEncoder().encode(JSON.stringify(published));
    const issue = (options: object) =>
      provider.issueToken({ subject: "alice", claims, ...options });
    const forgeries: Record<string, Forge> = {
      "an unknown key": () => sign({ kid: crypto.randomUUID() }),
      "another key with the id of a known one": () => sign({ kid }),
      "a key that the token brings": () => sign({ kid: ownKid, jwk }),
      "a key at an address that the token names": () => sign({ kid: ownKid, jku: server.url }),
      "no key id": () => sign({}),
      "the algorithm none": () => `${encode({ alg: "none", kid })}.${payload}.`,
      "a known key as a secret": () =>
        new SignJWT(forged).setProtectedHeader({ alg: "HS256", kid }).sign(secret),
      "other claims": () => `${header}.${encode({ ...forged, sub: "mallory" })}.${signature}`,
      "half a signature": () => `${header}.${payload}.${signature.slice(0, 43)}`,
      "zeros as a signature": () => `${header}.${payload}.${"A".repeat(86)}`,
      "an expired token": () => issue({ expiresInSeconds: -120 }),
      "another audience": () => issue({ audience: "other" }),
      "another issuer": () => issue({ claims: {} }),
    };
    return new Forger(server, { forgeries, origin });
  }

  /** Stops sending. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.keys[Symbol.asyncDispose]();
  }

  async #repeat(kind: string, forge: Forge): Promise<void> {
    while (this.#isRunning) {
      const status = await send(this.#origin, await forge());
      this.sent += 1;
      if (status !== 401 && status !== 503) this.letIn.push(`${kind}: ${status}`);
      await delay(PAUSE_MS);
    }
  }
}

/** Sends a token to a protected route; returns the status, 0 without a response. */
export async function send(origin: string, token: string): Promise<number> {
  try {
    const response = await fetch(`${origin}/api/orders`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(15_000),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}

function encode(json: object): string {
  return base64url.encode(JSON.stringify(json));
}
