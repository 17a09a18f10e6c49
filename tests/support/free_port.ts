/** Ports that nobody listens on, for what has to know its port before it listens. */
import { createServer, type Server } from "node:net";

/**
 * Finds the first of so many free ports in a row. They are outside of the range that systems take
 * ports of clients from, so that nobody is given them meanwhile.
 */
export async function freePort(count = 1): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const held = await Promise.allSettled(Array.from({ length: count }, (_, i) => hold(first + i)));
    const servers = held.flatMap((each) => each.status === "fulfilled" ? [each.value] : []);
    await Promise.all(servers.map(release));
    if (servers.length === count) return first;
  }
  throw new Error(`Cannot find ${count} free ports in a row`);
}

function hold(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, () => resolve(server));
  });
}

function release(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
