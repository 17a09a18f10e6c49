/** A Redis of the test's own, which it can kill. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { findOnPath } from "../../../src/cli/system/programs.ts";
import { freePort } from "../../support/free_port.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const PROGRAM = findOnPath("redis-server");
const MAX_RUN_SECONDS = 600;

/** Why scenarios with Redis are skipped, if they are. */
export const SKIP_REDIS_SERVER: string | undefined = PROGRAM
  ? undefined
  : "no redis-server: install redis-server";

/** A running server, without anything on a disk. */
export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder = new TemporaryFolder();
  #end: () => Promise<void> = () => Promise.resolve();

  private constructor(port: number) {
    this.port = port;
  }

  /** Starts a server. */
  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again, empty, on the same port. */
  async start(): Promise<void> {
    const settings = {
      port: this.port,
      bind: "127.0.0.1",
      dir: this.#folder.path,
      save: "",
      "repl-diskless-sync-delay": 0,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    // A server whose test was killed ends too.
    const child = spawn("timeout", [
      "--foreground",
      "--kill-after=1",
      String(MAX_RUN_SECONDS),
      "sh",
      "-c",
      'echo $$; exec "$@"',
      "sh",
      PROGRAM!,
      ...flags,
    ]);
    const ended = once(child, "exit");
    const [pid] = await once(child.stdout, "data") as [Uint8Array];
    child.stdout.resume();
    this.#end = async () => {
      this.#end = () => Promise.resolve();
      process.kill(Number.parseInt(new TextDecoder().decode(pid)), "SIGKILL");
      await ended;
    };
    for (let attempt = 0; attempt < 500; attempt++) {
      if (await this.send("PING").catch(() => undefined) === "PONG") return;
      await delay(20);
    }
    throw new Error(`Cannot reach Redis on port ${this.port}`);
  }

  /** Kills it. */
  kill(): Promise<void> {
    return this.#end();
  }

  /** Sends a command on a new connection. */
  async send(command: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(this.port, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    try {
      await client.connect();
      return await client.call(command, ...args);
    } finally {
      client.disconnect();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    this.#folder[Symbol.dispose]();
  }
}
