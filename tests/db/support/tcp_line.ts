/** Stands between a client and a server, so that a test can cut the line. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../support/free_port.ts";

/** A TCP proxy to a server. */
export interface TcpLine extends AsyncDisposable {
  /** The server's URL, by way of the line. */
  readonly url: string;
  /** The open ends of its connections, two of each. */
  connections(): readonly Socket[];
  /** How often the client has sent something since the server last did: each is a round trip. */
  readonly roundTrips: number;
  /** Stops passing data on, with connections open, and takes new ones: the server hangs. */
  hang(): void;
  /** Stops passing the data of its connections on, which stay open; new ones work. */
  silence(): void;
  /** Passes what the server sends on after this many milliseconds. */
  slow(ms: number): void;
  /** Connects new clients to another server. */
  redirect(serverUrl: string): void;
  /** Drops all connections, and each new one at once, as if the server were unreachable. */
  cut(): void;
  /** Drops all connections, and listens no more: the server is down. */
  down(): Promise<void>;
  /** Passes data on again. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

const PORTS: Readonly<Record<string, number>> = {
  "mysql:": 3306,
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
};

/** The way of data. */
interface Direction {
  readonly from: Socket;
  readonly to: Socket;
}

/** What a line does with data. */
export interface TcpLineOptions {
  /** Changes the first data of each client; by default it stays as it is. */
  readonly alter?: (data: Uint8Array) => void;
}

/** Opens a line to the server of a URL. */
export async function tcpLine(
  serverUrl: string,
  { alter = () => {} }: TcpLineOptions = {},
): Promise<TcpLine> {
  let target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let state: "up" | "hung" | "cut" = "up";
  let roundTrips = 0;

  let delayMs = 0;
  const silent = new Set<Socket>();

  function pass(data: Uint8Array, { from, to }: Direction): void {
    if (state === "up" && !silent.has(from)) to.write(data);
  }
  const server = createServer((client) => {
    if (state === "cut") return void client.destroy();
    const behind = connect(Number(target.port || PORTS[target.protocol]), target.hostname);
    let hasSent = false;
    client.once("data", alter);
    client.on("data", () => {
      if (!hasSent) roundTrips += 1;
      hasSent = true;
    });
    behind.on("data", () => void (hasSent = false));
    for (const [from, to] of [[client, behind], [behind, client]] as const) {
      sockets.add(from);
      let last = Promise.resolve();
      let isLate = false;
      from.on("data", (data) => {
        const passed = () => pass(data as Uint8Array, { from, to });
        if (from === behind && delayMs > 0) isLate = true;
        if (!isLate) return passed();
        // in their order, also what comes after the line is fast again
        const dueMs = performance.now() + delayMs;
        last = last.then(() => delay(Math.max(0, dueMs - performance.now()))).then(passed);
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        silent.delete(from);
        to.destroy();
      });
    }
  });
  function drop(): void {
    for (const socket of sockets) socket.destroy();
  }
  async function down(): Promise<void> {
    drop();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
  async function listen(port: number): Promise<void> {
    server.listen(port, "127.0.0.1");
    await once(server, "listening"); // or fails
  }

  // one that no client is given while the line is down
  let port = await freePort();
  while (!await listen(port).then(() => true, isTaken)) port = await freePort();
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    connections: () => [...sockets],
    get roundTrips() {
      return roundTrips;
    },
    hang: () => void (state = "hung"),
    silence() {
      for (const socket of sockets) silent.add(socket);
    },
    slow: (ms) => void (delayMs = ms),
    redirect: (url) => void (target = new URL(url)),
    cut() {
      state = "cut";
      drop();
    },
    down,
    async restore() {
      if (state === "hung") drop(); // what was lost on the way would confuse the protocol
      state = "up";
      delayMs = 0;
      if (!server.listening) await listen(port);
    },
    close: down,
    [Symbol.asyncDispose]: down,
  };
}

/** Whether a port was taken by another test since it was free; fails if it is another error. */
function isTaken(error: unknown): false {
  if ((error as { code?: unknown }).code === "EADDRINUSE") return false;
  throw error;
}
