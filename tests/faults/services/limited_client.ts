/** Clients of a limited application, each with an address of its own. */

/** Returns an address that no other client has. */
export function freshAddress(): string {
  const [a, b, c] = crypto.getRandomValues(new Uint8Array(3));
  return `10.${a}.${b}.${c}`;
}

/** What a limited application answered. */
export interface LimitedAnswer {
  readonly status: number;
  /** How many requests the client has left; `undefined` if the response does not say. */
  readonly remaining: number | undefined;
}

/** Sends one request of a client. */
export async function hit(origin: string, address: string): Promise<LimitedAnswer> {
  const send = () =>
    fetch(`${origin}/api/orders/none`, { headers: { "x-forwarded-for": address } });
  // the connection may have been idle for so long that the server closes it
  const response = await send().catch(send);
  await response.body?.cancel();
  const remaining = /"shared";r=(\d+)/.exec(response.headers.get("ratelimit") ?? "")?.[1];
  return { status: response.status, remaining: remaining ? Number(remaining) : undefined };
}

/** Sends requests of a client to each of the instances; returns how many were let through. */
export async function letThrough(
  origins: readonly string[],
  address: string,
  requestsEach: number,
): Promise<number> {
  let count = 0;
  for (let sent = 0; sent < requestsEach; sent++) {
    const answers = await Promise.all(origins.map((origin) => hit(origin, address)));
    for (const { status } of answers) {
      if (status === 404) count += 1; // there is no such order
      else if (status !== 429) throw new Error(`Unexpected status ${status}`);
    }
  }
  return count;
}
