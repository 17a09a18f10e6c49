/**
 * A Worker that verifies tokens, and the provider that issues them.
 *
 * @module
 */
import { JwksServer } from "../oauth2/resource_server/jwks_server.ts";
import { AUDIENCE, ISSUER, SigningKey } from "../oauth2/resource_server/signing_key.ts";
import { Worker } from "./worker.ts";

/** A response with its body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests assert its content
  readonly body: any;
}

/** A Worker with its provider: settings, a database, tokens. */
export class Site implements AsyncDisposable {
  readonly provider: JwksServer;
  readonly worker: Worker;
  #key: SigningKey;

  private constructor(worker: Worker, provider: JwksServer, key: SigningKey) {
    this.worker = worker;
    this.provider = provider;
    this.#key = key;
  }

  static async start(code: string): Promise<Site> {
    const key = await SigningKey.generate("ES256");
    const provider = await JwksServer.start(key.jwk);
    const text = {
      OAUTH2_ISSUER: ISSUER,
      OAUTH2_AUDIENCE: AUDIENCE,
      OAUTH2_JWKS_URL: provider.url,
    };
    try {
      return new Site(await Worker.start(code, { text, databases: ["DB"] }), provider, key);
    } catch (error) {
      await provider[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Issues a token. */
  token(subject: string): Promise<string> {
    return this.#key.token({ sub: subject, exp: Math.floor(Date.now() / 1000) + 600 });
  }

  /** Makes the provider sign with a new key, and publish only that key. */
  async rotate(): Promise<void> {
    this.#key = await SigningKey.generate("ES256");
    this.provider.keys = [this.#key.jwk];
  }

  /** Sends a request. */
  request(path: string, init?: RequestInit): Promise<Response> {
    return fetch(this.worker.url + path, { signal: AbortSignal.timeout(20_000), ...init });
  }

  /** Sends a request, such as `"GET /notes"`, with an optional caller and a JSON body. */
  async send(
    request: `${string} /${string}`,
    { subject, json }: { readonly subject?: string; readonly json?: unknown } = {},
  ): Promise<Answer> {
    const [method = "", path = ""] = request.split(" ");
    const response = await this.request(path, {
      method,
      headers: {
        ...subject !== undefined && { authorization: `Bearer ${await this.token(subject)}` },
        ...json !== undefined && { "content-type": "application/json" },
      },
      ...json !== undefined && { body: JSON.stringify(json) },
    });
    const { status, headers } = response;
    const text = await response.text();
    try {
      return { status, headers, body: JSON.parse(text) };
    } catch (cause) {
      throw new Error(`${request} was answered ${status}: ${text}`, { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.worker[Symbol.asyncDispose]();
    await this.provider[Symbol.asyncDispose]();
  }
}
