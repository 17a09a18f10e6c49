/**
 * A process that sends requests to a server over keep-alive connections until the server accepts no
 * more, and prints when 100 are answered, and at last their results.
 *
 * @module
 */
import { connect, type Socket } from "node:net";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

/** The results of the requests. */
export interface LoadResult {
  /** With the status 200. */
  answered: number;
  /** With another status. */
  refused: number;
  /** Sent on an open connection, without a complete response. */
  lost: number;
  /** Responses with `Connection: close`. */
  lastOfConnection: number;
}

const [port, connections, thinkMs] = process.argv.slice(2).map(Number) as [number, number, number];
const result: LoadResult = { answered: 0, refused: 0, lost: 0, lastOfConnection: 0 };
const deadline = performance.now() + 10_000;

await Promise.all(Array.from({ length: connections }, client));
console.log(JSON.stringify(result));

/** A client that reconnects when the server closes its connection, and ends when it is refused. */
async function client(): Promise<void> {
  for (;;) {
    const socket = await open();
    if (!socket) return;
    await useUp(socket);
    socket.destroy();
    if (performance.now() > deadline) return;
  }
}

function open(): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

/** Sends requests on a connection, each after the previous response, until it is closed. */
async function useUp(socket: Socket): Promise<void> {
  let received = "";
  let closed = false;
  let wake = () => {};
  socket.setEncoding("latin1").on("data", (chunk) => {
    received += chunk;
    wake();
  });
  for (const event of ["end", "error", "close"]) {
    socket.on(event, () => {
      closed = true;
      wake();
    });
  }
  while (!closed && performance.now() < deadline) {
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (!isComplete(received) && !closed) await new Promise<void>((resolve) => wake = resolve);
    if (!isComplete(received)) return void result.lost++;
    const isLast = /^connection: close\r$/im.test(received);
    if (received.startsWith("HTTP/1.1 200 ")) {
      if (++result.answered === 100) console.log("under load");
    } else result.refused++;
    if (isLast) return void result.lastOfConnection++;
    received = "";
    if (thinkMs > 0) await delay(2 * Math.random() * thinkMs);
  }
}

function isComplete(response: string): boolean {
  const [head = "", body] = response.split("\r\n\r\n");
  const length = /^content-length: (\d+)\r?$/im.exec(head)?.[1];
  return body !== undefined && body.length === Number(length);
}
