/** Many addresses at a limit of requests. */
import { setTimeout as delay } from "node:timers/promises";
import { REQUESTS_OF_A_CLIENT } from "../server/hostile_limits.ts";
import { WireClient } from "../wire_client.ts";
import { type Part, repeat, TRIES } from "./many.ts";

const CONNECTIONS = 16;
const VICTIM = "203.0.113.9";

/** Many IPv4 addresses, many networks of IPv6, and many addresses of one network. */
export const addresses: Part = async ({ instance, isQuick }) => {
  const count = isQuick ? 1_000 : 100_000;
  const wires = Array.from({ length: CONNECTIONS }, () => new WireClient(instance.origin));
  await Promise.all(wires.map(opened));
  const statuses = async (total: number, addressOf: (n: number) => string) => {
    const counts = new Map<number, number>();
    await repeat({ count: total, atOnce: CONNECTIONS }, async (n, worker) => {
      const lines = [`X-Forwarded-For: ${addressOf(n)}`];
      const answer = await wires[worker]?.send({ target: "/input/limited", lines });
      const status = answer?.status ?? 0;
      counts.set(status, (counts.get(status) ?? 0) + 1);
      return undefined;
    });
    return Object.fromEntries(counts);
  };
  const failures: string[] = [];
  const check = (what: string, found: object, expected: object) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
    if (a !== b) failures.push(`${what}: ${a}, expected ${b}`);
  };
  const beyond = { 200: REQUESTS_OF_A_CLIENT, 429: 10 };
  check("one address", await statuses(REQUESTS_OF_A_CLIENT + 10, () => VICTIM), beyond);
  check("IPv4", await statuses(count, (n) => `10.${n >> 16}.${n >> 8 & 255}.${n & 255}`), {
    200: count,
  });
  check("networks", await statuses(count, (n) => `2001:db8:${hex(n >> 16)}:${hex(n & 65535)}::1`), {
    200: count,
  });
  check(
    "one network",
    await statuses(count, (n) => `2001:db8:ffff:ffff:${hex(n >> 16)}::${hex(n & 65535)}`),
    { 200: REQUESTS_OF_A_CLIENT, 429: count - REQUESTS_OF_A_CLIENT },
  );
  check("one address again", await statuses(10, () => VICTIM), { 429: 10 });
  for (const wire of wires) wire.close();
  return { injected: 3 * count + REQUESTS_OF_A_CLIENT + 20, failures };
};

/** Opens the connection of a client: it is refused while the queue of the instance is full. */
async function opened(wire: WireClient): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const { status } = await wire.send({ target: "/open" });
    if (status === 200) return;
    await delay(50);
  }
}

function hex(number: number): string {
  return number.toString(16);
}
