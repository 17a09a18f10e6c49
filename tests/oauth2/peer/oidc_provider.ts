/**
 * `oidc-provider`, which is certified by the OpenID Foundation, as a real peer on loopback. It runs
 * under Node in a separate process, on every runtime of the tests.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { type CryptoKey, exportJWK, generateKeyPair } from "jose";
import { ROOT } from "../../support/project.ts";

/** The algorithms of access tokens; each has its own resource. */
export type ResourceAlgorithm = "EdDSA" | "ES256" | "RS256" | "PS256";

/**
 * The value of `resource` (RFC 8707) for an access token of an algorithm, and its `aud`. A
 * client credentials request without it returns one of `EdDSA`; a login without it returns an opaque
 * access token for userinfo.
 */
export const RESOURCES: Readonly<Record<ResourceAlgorithm, string>> = {
  EdDSA: "https://api.example/eddsa",
  ES256: "https://api.example/es256",
  RS256: "https://api.example/rs256",
  PS256: "https://api.example/ps256",
};

/** A client with a secret. */
export interface ConfidentialClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A client with a key (RFC 7523 §2.2). */
export interface KeyClient {
  readonly clientId: string;
  /** Signs with ES256. */
  readonly privateKey: CryptoKey;
  readonly privateKeyId: string;
}

/** The registered clients. The first three use client credentials, the others log users in. */
export interface OidcClients {
  /** Authenticates by `client_secret_post`. */
  readonly post: ConfidentialClient;
  /** Authenticates by `client_secret_basic`, which requires its secret to be encoded. */
  readonly basic: ConfidentialClient;
  /** Authenticates by `private_key_jwt`. */
  readonly key: KeyClient;
  /** Logs users in, and authenticates by `client_secret_post`. */
  readonly web: ConfidentialClient;
  /** Logs users in, without a secret. */
  readonly public: { readonly clientId: string };
}

/** The endpoints, by the names of the options of the framework. */
export interface OidcEndpoints {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly jwksUrl: string;
  readonly revokeUrl: string;
  readonly userinfoUrl: string;
}

/** What a test may decide. */
export interface OidcProviderOptions {
  /** Where `web` and `public` are called back. */
  readonly redirectUri?: string;
  /** How ID tokens are signed. */
  readonly idTokenAlgorithm?: ResourceAlgorithm;
}

const MAX_START_MS = 20_000;
const MAX_STEPS = 10;

const NODE = findNode();

/** Why the tests with this provider are skipped, if they are. */
export const SKIP_OIDC_PROVIDER: string | undefined = NODE
  ? undefined
  : "oidc-provider needs Node 20 or newer, and there is none on the PATH";

/** Starts a provider; it is killed at the end of its scope, and would end with this process anyway. */
export async function oidcProvider(
  {
    redirectUri = "http://127.0.0.1:1/callback",
    idTokenAlgorithm = "RS256",
  }: OidcProviderOptions = {},
): Promise<OidcProvider> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const clients: OidcClients = {
    post: { clientId: "post", clientSecret: "post-secret" },
    basic: { clientId: "basic", clientSecret: "basic secret: 100% & +" },
    key: { clientId: "key", privateKey, privateKeyId: "key-1" },
    web: { clientId: "web", clientSecret: "web-secret" },
    public: { clientId: "public" },
  };
  const publicJwk = { ...await exportJWK(publicKey), kid: clients.key.privateKeyId, use: "sig" };
  const configuration = {
    resources: RESOURCES,
    clientDefaults: { id_token_signed_response_alg: idTokenAlgorithm },
    clients: metadataOf(clients, { redirectUri, publicJwk }),
  };
  const fixture = join(ROOT, "tests/oauth2/peer/oidc_provider_fixture.mjs");
  const child = spawn(NODE ?? "node", [fixture, JSON.stringify(configuration)], { cwd: ROOT });
  const port = await listening(child);
  return new OidcProvider(child, { issuer: `http://127.0.0.1:${port}`, clients, redirectUri });
}

/** A provider that runs. */
export class OidcProvider implements AsyncDisposable {
  /** Its issuer, without a slash at its end. */
  readonly issuer: string;
  /** The endpoints, equal to those of its metadata. */
  readonly endpoints: OidcEndpoints;
  /** Its clients. */
  readonly clients: OidcClients;
  /** The callback of `web` and `public`; only some tests listen there. */
  readonly redirectUri: string;
  readonly #child: ChildProcess;

  /** Wraps a process; use {@linkcode oidcProvider}. */
  constructor(
    child: ChildProcess,
    { issuer, clients, redirectUri }: Pick<OidcProvider, "issuer" | "clients" | "redirectUri">,
  ) {
    this.#child = child;
    this.issuer = issuer;
    this.endpoints = {
      authorizeUrl: `${issuer}/auth`,
      tokenUrl: `${issuer}/token`,
      jwksUrl: `${issuer}/jwks`,
      revokeUrl: `${issuer}/token/revocation`,
      userinfoUrl: `${issuer}/me`,
    };
    this.clients = clients;
    this.redirectUri = redirectUri;
  }

  /**
   * Follows an authorization URL as a browser in a new session, and returns the callback it
   * leads to. The user logs in and consents by itself: as `alice`, or as the parameter `login_hint`
   * says; the hint `refuse` refuses.
   */
  async authorize(url: string): Promise<string> {
    const cookies = new Map<string, string>();
    let next = url;
    for (let step = 0; step < MAX_STEPS; step++) {
      const headers = {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      };
      const response = await fetch(next, { headers, redirect: "manual" });
      const text = await response.text();
      keepCookies(response, cookies);
      const location = response.headers.get("location");
      if (location === null) {
        throw new Error(`Cannot authorize: ${response.status} at ${next}: ${text}`);
      }
      next = new URL(location, next).href;
      if (!next.startsWith(`${this.issuer}/`)) return next;
    }
    throw new Error(`Cannot authorize: there are more than ${MAX_STEPS} redirects`);
  }

  /** Signs with new keys from now on; the old ones are withdrawn, or optionally stay published. */
  async rotateKeys({ keepPrevious = false }: { readonly keepPrevious?: boolean } = {}): Promise<
    void
  > {
    const url = `${this.issuer}/test/rotate-keys${keepPrevious ? "?keep" : ""}`;
    const response = await fetch(url, { method: "POST" });
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot rotate keys: ${text}`);
  }

  /** Kills it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await kill(this.#child);
  }
}

function metadataOf(
  clients: OidcClients,
  { redirectUri, publicJwk }: { readonly redirectUri: string; readonly publicJwk: object },
): readonly object[] {
  const secretOf = ({ clientId, clientSecret }: ConfidentialClient) => ({
    client_id: clientId,
    client_secret: clientSecret,
  });
  const forItself = {
    grant_types: ["client_credentials"],
    response_types: [],
    redirect_uris: [],
  };
  const forUsers = {
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    redirect_uris: [redirectUri],
  };
  return [
    { ...forItself, ...secretOf(clients.post), token_endpoint_auth_method: "client_secret_post" },
    { ...forItself, ...secretOf(clients.basic), token_endpoint_auth_method: "client_secret_basic" },
    {
      ...forItself,
      client_id: clients.key.clientId,
      token_endpoint_auth_method: "private_key_jwt",
      jwks: { keys: [publicJwk] },
    },
    { ...forUsers, ...secretOf(clients.web), token_endpoint_auth_method: "client_secret_post" },
    { ...forUsers, client_id: clients.public.clientId, token_endpoint_auth_method: "none" },
  ];
}

/** Waits until the fixture reports its port. */
async function listening(child: ChildProcess): Promise<number> {
  let output = "";
  const ready = Promise.withResolvers<number>();
  const timer = setTimeout(() => ready.reject(new Error("it takes too long")), MAX_START_MS);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
      const [, json] = /^ready (.+)$/m.exec(output) ?? [];
      if (json) ready.resolve(JSON.parse(json).port);
    });
  }
  child.once("error", ready.reject);
  child.once("close", () => ready.reject(new Error("it has ended")));
  try {
    return await ready.promise;
  } catch (cause) {
    await kill(child);
    throw new Error(`Cannot start oidc-provider: ${(cause as Error).message}\n${output}`, {
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Kills a process, not by `ChildProcess.kill`, which Deno allows only once. */
async function kill(child: ChildProcess): Promise<void> {
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  if (child.pid === undefined || hasEnded) return;
  const closed = once(child, "close");
  process.kill(child.pid, "SIGKILL");
  await closed;
}

function keepCookies(response: Response, cookies: Map<string, string>): void {
  for (const cookie of response.headers.getSetCookie()) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (value === "") cookies.delete(name);
    else cookies.set(name, value);
  }
}

/** Finds Node: the runtime of the tests if that is Node, otherwise the first on the PATH, if it is new enough. */
function findNode(): string | undefined {
  const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
  const file = isNode ? process.execPath : "node";
  // without Node, Deno runs itself under that name, and so may Bun
  const script =
    "const { node, bun, deno } = process.versions; console.log(bun || deno ? 0 : node)";
  const { stdout } = spawnSync(file, ["-e", script], { encoding: "utf8" });
  return Number.parseInt(stdout ?? "") >= 20 ? file : undefined;
}
