/** Random bearer headers, over sockets, single and interleaved. */
import { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import { Random } from "../random.ts";
import type { Given, Outcome } from "../scenario.ts";
import { CALLERS_APPLICATION, startInstance } from "../server/instance.ts";
import { type WireAnswer, WireClient } from "../wire_client.ts";
import { type BearerHeaders, bearerHeaders, bearerMaterial } from "./bearer_headers.ts";

/** For all runtimes together. */
const REQUESTS = 200_000;
const QUICK_REQUESTS = 6_000;
const RUNTIMES = 3;
const CONNECTIONS = 16;
/** The share of requests that are sent one after the other. */
const SINGLE = 0.2;
/** Servers refuse longer headers before anything else sees them, or close the connection. */
const LONG = 8_000;

/** Sends random headers to a route that needs a token. */
export async function bearers({ runtime, isQuick, seed }: Given): Promise<Outcome> {
  await using provider = await DevelopmentIdentityProvider.start({ audience: "shop" });
  await using instance = await startInstance(runtime, {
    file: CALLERS_APPLICATION,
    env: { ISSUER: provider.issuer },
    maxRunMs: 3_600_000,
  });
  const material = await bearerMaterial(provider);
  const total = Math.round((isQuick ? QUICK_REQUESTS : REQUESTS) / RUNTIMES);
  const counts = { requests: 0, asExpected: 0 };
  const wrong = new Map<string, string>();
  const client = async (own: number, until: number) => {
    const random = new Random(own);
    using wire = new WireClient(instance.origin);
    while (counts.requests < until) {
      counts.requests += 1;
      const headers = bearerHeaders(material, random);
      const answer = await wire.send({ target: "/account", lines: headers.lines });
      if (isExpected(answer, headers)) counts.asExpected += 1;
      else wrong.set(`${headers.kind} ${answer.status}`, described(answer, headers));
    }
  };
  await client(seed, total * SINGLE);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, n) => client(seed + 1 + n, total)),
  );
  return {
    injected: counts.requests,
    ...counts,
    note: `seed ${seed}`,
    failures: [...wrong.values(), ...instance.unexpectedOutput()],
  };
}

function isExpected({ status }: WireAnswer, { lines, verdict }: BearerHeaders): boolean {
  const isLong = lines.join("\r\n").length >= LONG;
  switch (verdict) {
    case "valid":
      return status === 200;
    case "either":
      return [200, 400, 401].includes(status);
    case "refused":
      return [400, 401].includes(status) || isLong && [0, 431].includes(status);
  }
}

function described(
  { status, body, error = "" }: WireAnswer,
  { kind, lines }: BearerHeaders,
): string {
  const shown = JSON.stringify(lines.join(" | ").slice(0, 600));
  return `${kind}: ${status} ${error}${body.slice(0, 200)} for ${shown}`;
}
