/** The faults of an identity provider, under load of an application that needs its tokens. */
import { setTimeout as delay } from "node:timers/promises";
import { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import { createDatabase, SERVERS } from "../../db/support/servers.ts";
import {
  breakOff,
  drip,
  endless,
  gzipBomb,
  hang,
  redirect,
  type Reply,
  text,
} from "../../oauth2/resource_server/jwks_server.ts";
import { SigningKey } from "../../oauth2/resource_server/signing_key.ts";
import { compare } from "../databases/ledger.ts";
import { judge } from "../judge.ts";
import { Load } from "../load.ts";
import { type Given, type Outcome, type Scenario, skipped } from "../scenario.ts";
import { startInstance } from "../server/instance.ts";
import { Forger, send } from "./forger.ts";
import { ProviderLine } from "./provider_line.ts";

/** What a phase works with. */
interface Parts {
  readonly provider: DevelopmentIdentityProvider;
  readonly line: ProviderLine;
  readonly forger: Forger;
  readonly isQuick: boolean;
  readonly origin: string;
  /** Issues a token of the newest key. */
  token(subject: string): Promise<string>;
  /**
   * Issues tokens, which the load uses from now on, beside the others or `only` these; resolves to
   * one of them when no request with others is under way.
   */
  issue(options?: { readonly only?: boolean }): Promise<string>;
  /** Reports what is otherwise than expected. */
  expect(what: string, found: unknown, expected: unknown): void;
}

/** A phase resolves to the time to recover, in milliseconds, if there was something to recover. */
type Phase = (parts: Parts) => Promise<number | void>;

const PHASES: Readonly<Record<string, readonly Phase[]>> = {
  "gone, lying and rotating": [gone, lying, rotating],
  gone: [gone, gone, gone],
  slow: [slow],
  lying: [lying, lying],
  rotating: [rotating, rotating, rotating, rotating, rotating],
};

const QUICK = ["gone, lying and rotating"];

/** The scenarios of identity providers. */
export const providerScenarios: readonly Scenario[] = Object.entries(PHASES).map((
  [name, phases],
) => ({
  fault: `Identity provider: ${name}`,
  isQuick: QUICK.includes(name),
  run: (given) => breakProvider(phases, given),
}));

async function breakProvider(
  phases: readonly Phase[],
  { runtime, isQuick }: Given,
): Promise<Outcome> {
  if (SERVERS.postgres.skip) return skipped(SERVERS.postgres.skip);
  await using database = await createDatabase("postgres");
  await using provider = await DevelopmentIdentityProvider.start({
    algorithm: "ES256",
    audience: "shop",
  });
  await using line = await ProviderLine.to(provider);
  const { issuer } = line;
  const env = { DATABASE_URL: database.url, ISSUER: issuer };
  await using instance = await startInstance(runtime, { env });
  const { origin } = instance;
  const token = (subject: string) =>
    provider.issueToken({ subject, claims: { iss: issuer, tenant_id: "demo" } });
  const tokens = [await token("alice")];
  const issue = async ({ only = false } = {}) => {
    // more than the application caches
    const subjects = Array.from({ length: isQuick ? 50 : 2_000 }, (_, user) => `user-${user}`);
    const issued = await Promise.all(subjects.map(token));
    tokens.splice(0, only ? tokens.length : 0, ...issued);
    if (only) await load.succeeded(40);
    return issued[0]!;
  };
  let turn = 0;
  await using load = new Load(() => origin, {
    clients: 4,
    headers: () => ({ authorization: `Bearer ${tokens[turn++ % tokens.length]}` }),
  });
  await issue();
  await load.succeeded(50);
  const startedAt = performance.now();
  const before = line.requestCount;
  await using forger = await Forger.start({ provider, issuer, origin });
  const failures: string[] = [];
  const parts: Parts = {
    provider,
    line,
    forger,
    isQuick,
    origin,
    token,
    issue,
    expect(what, found, expected) {
      if (found !== expected) failures.push(`${what}: ${found}, expected ${expected}`);
    },
  };
  let recoveryMs: number | undefined;
  for (const phase of phases) {
    const tookMs = await phase(parts);
    await load.succeeded(50);
    if (tookMs !== undefined) recoveryMs = Math.max(recoveryMs ?? 0, tookMs);
  }
  await forger.stop();
  await load.stop();

  const requests = line.requestCount - before;
  // five in a row, then one every 1.25 s
  const most = 6 + (performance.now() - startedAt) / 1_250;
  if (requests > most) failures.push(`the provider had ${requests} requests`);
  failures.push(...new Set(forger.letIn));
  const judged = judge(load, { from: -Infinity, to: -Infinity });
  const { lost, failures: half } = await compare(database.url, load);
  return {
    injected: phases.length,
    ...judged,
    lost,
    ...recoveryMs !== undefined && { recoveryMs },
    note: `${forger.sent} forged tokens, ${forger.letIn.length} let in; ${requests} key requests`,
    failures: [...failures, ...judged.failures, ...half],
  };
}

/** Known keys stay valid; tokens of a new key wait for the provider. */
async function gone(parts: Parts): Promise<number> {
  const { provider, line, origin, isQuick, token, expect } = parts;
  await line.down();
  await provider.rotateKeys();
  const late = await token("late");
  expect("a token of a new key while the provider is gone", await send(origin, late), 503);
  await delay(isQuick ? 1_000 : 10_000);
  const backAt = performance.now();
  await line.restore();
  await accepted(origin, late);
  return performance.now() - backAt;
}

/** No answer but a key set replaces the keys. */
async function lying({ line, forger, isQuick, expect }: Parts): Promise<void> {
  const [rsa, encryption] = await Promise.all([
    SigningKey.generate("RS256"),
    SigningKey.generate("ES256"),
  ]);
  const set = (...keys: unknown[]) => text(JSON.stringify({ keys }));
  const quick: Readonly<Record<string, Reply>> = {
    "an empty key set": text('{"keys":[]}'),
    "keys of another algorithm": set(rsa.jwk),
    "a redirect to the forger": redirect(forger.keys.url),
  };
  const all: Readonly<Record<string, Reply>> = {
    ...quick,
    "a body that never ends": endless(),
    garbage: text("\0\x01garbage"),
    "a page": text("<html>Down for maintenance</html>", { type: "text/html" }),
    "a key for encryption": set(encryption.jwkWith({ use: "enc" })),
    "a private key": set(encryption.privateJwk),
    "a secret": set({ kty: "oct", k: "c2VjcmV0", kid: "secret", alg: "HS256" }),
    "another permanent redirect": redirect(forger.keys.url, 308),
    "300 MB, packed": gzipBomb(300),
    "an error": text("{}", { status: 500 }),
    "half a key set": breakOff({ after: '{"keys":[' }),
  };
  for (const [lie, reply] of Object.entries(isQuick ? quick : all)) {
    const before = line.requestCount;
    line.reply = reply;
    const endMs = performance.now() + 15_000;
    while (line.requestCount === before && performance.now() < endMs) await delay(10);
    expect(`the application believes: ${lie}; requests`, line.requestCount > before, true);
    await delay(isQuick ? 100 : 1_000);
  }
  expect("requests of the forger's keys", forger.keys.requestCount, 0);
  await line.restore();
}

/** New keys are found, and withdrawn ones are forgotten. */
async function rotating({ provider, origin, issue, expect }: Parts): Promise<number> {
  const withdrawn = await issue();
  await provider.rotateKeys();
  const rotatedAt = performance.now();
  const fresh = await issue({ only: true });
  expect("a token of the new key", await send(origin, fresh), 200);
  const tookMs = performance.now() - rotatedAt;
  expect("a token of the last key", await send(origin, withdrawn), 200);

  // the newest four keys are published
  for (let time = 0; time < 3; time++) await provider.rotateKeys();
  const endMs = performance.now() + 15_000;
  while (await send(origin, withdrawn) !== 401) {
    if (performance.now() > endMs) throw new Error("A withdrawn key stays valid");
    await delay(20);
  }
  expect("a token of a key that is published", await send(origin, fresh), 200);
  return tookMs;
}

/** A provider that never finishes an answer delays only tokens with unknown keys. */
async function slow({ line, origin, issue, token, provider, expect }: Parts): Promise<number> {
  let tookMs = 0;
  for (const reply of [hang(), drip(), hang({ after: '{"keys":[' })]) {
    line.reply = reply;
    await provider.rotateKeys();
    const late = await token("late");
    expect("a token of a new key while the provider hangs", await send(origin, late), 503);
    await delay(5_000);
    const backAt = performance.now();
    await line.restore();
    await accepted(origin, late);
    tookMs = Math.max(tookMs, performance.now() - backAt);
    await issue();
  }
  return tookMs;
}

async function accepted(origin: string, token: string): Promise<void> {
  const endMs = performance.now() + 30_000;
  while (await send(origin, token) !== 200) {
    if (performance.now() > endMs) throw new Error("A valid token is never accepted");
    await delay(20);
  }
}
