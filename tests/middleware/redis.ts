/** Finds a real Redis, and stands between it and a client so that a test can cut the line. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import process from "node:process";

/** `TEST_REDIS_URL`, or the standard local port if something listens there. */
export const REDIS_URL: string | undefined = process.env.TEST_REDIS_URL ??
  (await listens(6379) ? "redis://127.0.0.1:6379" : undefined);

export const SKIP_REDIS: string | undefined = REDIS_URL === undefined
  ? "no Redis: set TEST_REDIS_URL or start one on port 6379"
  : undefined;

/** A TCP proxy to Redis. */
export interface RedisLine {
  readonly url: string;
  /** Stops passing data on, with connections open: Redis hangs. */
  hang(): void;
  /** Drops all connections and refuses new ones: Redis is down. */
  cut(): void;
  /** Passes data on again. */
  restore(): void;
  close(): Promise<void>;
}

export async function redisLine(): Promise<RedisLine> {
  const target = new URL(REDIS_URL ?? "");
  const sockets = new Set<Socket>();
  let state: "up" | "hung" | "cut" = "up";

  function pass(data: Uint8Array, to: Socket): void {
    if (state === "up") to.write(data);
  }
  const server = createServer((client) => {
    if (state === "cut") return void client.destroy();
    const redis = connect(Number(target.port || 6379), target.hostname);
    for (const [from, to] of [[client, redis], [redis, client]] as const) {
      sockets.add(from);
      from.on("data", (data) => pass(data as Uint8Array, to));
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  function drop(): void {
    for (const socket of sockets) socket.destroy();
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}${target.pathname}`,
    hang: () => void (state = "hung"),
    cut() {
      state = "cut";
      drop();
    },
    restore() {
      if (state === "hung") drop(); // what was lost on the way would confuse the protocol
      state = "up";
    },
    async close() {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const settle = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}
