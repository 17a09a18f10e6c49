/** Finds a real Redis, and a connection to it that a test can interrupt. */
import { connect } from "node:net";
import process from "node:process";
import { type TcpLine, tcpLine } from "../db/support/tcp_line.ts";

/** `TEST_REDIS_URL`, or the standard local port if something listens there. */
export const REDIS_URL: string | undefined = process.env.TEST_REDIS_URL ??
  (await listens(6379) ? "redis://127.0.0.1:6379" : undefined);

export const SKIP_REDIS: string | undefined = REDIS_URL === undefined
  ? "no Redis: set TEST_REDIS_URL or start one on port 6379"
  : undefined;

/** A connection to Redis that a test can interrupt. */
export function redisLine(): Promise<TcpLine> {
  return tcpLine(REDIS_URL ?? "");
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
