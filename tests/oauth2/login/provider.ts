/** A provider on loopback in place of a real one: it answers for any host. */
import { createHash } from "node:crypto";
import { SigningKey } from "../resource_server/signing_key.ts";
import {
  type Received,
  type Reply,
  type TokenServer,
  tokenServer,
} from "../client/token_server.ts";

/** Where the provider is, by its real URLs. */
export interface ProviderUrls {
  readonly issuer: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly jwksUrl?: string;
  readonly userinfoUrl?: string;
}

export const EXAMPLE = {
  issuer: "https://id.example.com",
  authorizeUrl: "https://id.example.com/authorize",
  tokenUrl: "https://id.example.com/token",
  jwksUrl: "https://id.example.com/jwks",
  userinfoUrl: "https://id.example.com/userinfo",
} as const;

type Members = Readonly<Record<string, unknown>>;

const KEY = await SigningKey.generate("RS256", { kid: "the key" });

/** Its default answers, which log one user in. */
export class Provider implements AsyncDisposable {
  /** Sends every request to it, whatever its host. */
  readonly fetch: typeof fetch;
  /** The received requests, with real URLs: `POST https://id.example.com/token`. */
  readonly asked: string[] = [];
  /** Every code and token that it has given, and every state, nonce and proof that it was given. */
  readonly secrets: string[] = [];
  /** What it answers instead, by real URL. */
  answers: Record<string, (request: Received) => Reply | Promise<Reply>> = {};
  /** Claims of its id_tokens that are not the usual ones; `undefined` leaves one out. */
  claims: Members = {};
  /** Members of its token responses that are not the usual ones. */
  tokens: Members = {};
  /** The userinfo. */
  profile: unknown = { sub: "ada" };
  /** Members of its published key that are not the usual ones. */
  jwk: Members = {};
  readonly #urls: ProviderUrls;
  readonly #server: TokenServer;
  readonly #granted = new Map<string, URLSearchParams>();

  private constructor(urls: ProviderUrls, server: TokenServer) {
    this.#urls = urls;
    this.#server = server;
    this.fetch = (input, init) => {
      const { host, pathname, search } = new URL(String(input));
      return fetch(`${server.url}/${host}${pathname}${search}`, init);
    };
  }

  static async start(urls: ProviderUrls = EXAMPLE): Promise<Provider> {
    const server = await tokenServer((request) => provider.#answer(request));
    const provider = new Provider(urls, server);
    return provider;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  /** Every request that has reached it. */
  get received(): readonly Received[] {
    return this.#server.received;
  }

  /** The user agrees to an authorization request; returns the parameters of the callback. */
  agree(location: string | null): URLSearchParams {
    const asked = new URL(location ?? "").searchParams;
    const code = this.#secret("code");
    this.#granted.set(code, asked);
    const state = asked.get("state") ?? "";
    this.secrets.push(state, asked.get("nonce") ?? state);
    return new URLSearchParams({ code, state });
  }

  async #answer(request: Received): Promise<Reply> {
    const [, host, path = ""] = /^\/([^/]+)([^?]*)/.exec(request.path) ?? [];
    const url = `https://${host}${path}`;
    this.asked.push(`${request.method} ${url}`);
    const { tokenUrl, jwksUrl, userinfoUrl } = this.#urls;
    const own = this.answers[url];
    if (own) return await own(request);
    if (url === tokenUrl) return await this.exchange(request.form);
    if (url === jwksUrl) return { body: { keys: [{ ...KEY.jwk, ...this.jwk }] } };
    if (url === userinfoUrl) return { body: this.profile };
    return { status: 404 };
  }

  /** What its token endpoint answers. */
  async exchange(form: URLSearchParams): Promise<Reply> {
    const code = form.get("code") ?? "";
    const asked = this.#granted.get(code);
    this.#granted.delete(code);
    const verifier = form.get("code_verifier") ?? "";
    this.secrets.push(verifier);
    const isProven = asked?.get("redirect_uri") === form.get("redirect_uri") &&
      asked?.get("code_challenge") === createHash("sha256").update(verifier).digest("base64url");
    if (!asked || !isProven) return { status: 400, body: { error: "invalid_grant" } };
    return {
      body: {
        access_token: this.#secret("access"),
        token_type: "Bearer",
        expires_in: 3600,
        refresh_token: this.#secret("refresh"),
        ...(asked.get("scope")?.includes("openid") && { id_token: await this.#idToken(asked) }),
        ...this.tokens,
      },
    };
  }

  async #idToken(asked: URLSearchParams): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const token = await KEY.token({
      iss: this.#urls.issuer,
      aud: asked.get("client_id"),
      sub: "ada",
      nonce: asked.get("nonce") ?? undefined,
      iat: now,
      exp: now + 600,
      ...this.claims,
    });
    this.secrets.push(token);
    return token;
  }

  #secret(kind: string): string {
    const secret = `${kind}-${crypto.randomUUID()}`;
    this.secrets.push(secret);
    return secret;
  }
}
