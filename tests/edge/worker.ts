/**
 * Runs a module in workerd, the runtime of Cloudflare Workers, on loopback.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";

/** The bindings of a Worker. */
export interface Bindings {
  /** Text values by name. */
  readonly text?: Readonly<Record<string, string>>;
  /** The names of empty databases (D1). */
  readonly databases?: readonly string[];
  /** Its compatibility flags; `nodejs_compat` by default. */
  readonly flags?: readonly string[];
}

/** A running Worker; disposing it stops it. */
export class Worker implements AsyncDisposable {
  /** Its URL, without a trailing slash. */
  readonly url: string;
  readonly #process: Subprocess;

  private constructor(url: string, process: Subprocess) {
    this.url = url;
    this.#process = process;
  }

  /**
   * Starts a module.
   *
   * @throws {Error} if it uses I/O, timers or randomness at import, which a Worker cannot
   */
  static async start(
    code: string,
    { text = {}, databases = [], flags = ["nodejs_compat"] }: Bindings = {},
  ): Promise<Worker> {
    using folder = new TemporaryFolder();
    const file = join(folder.path, "worker.json");
    writeFileSync(file, JSON.stringify({ code, text, databases, flags }));
    const process = new Subprocess("tests/edge/worker_fixture.mjs", { args: [file] });
    const line = await process.until(/^(?:Serves at http:.*|Cannot start: .*)$/m);
    if (line.startsWith("Serves at ")) return new Worker(line.slice("Serves at ".length), process);
    await process.ended;
    throw new Error(line);
  }

  /** Waits for a line of its log. */
  logged(pattern: RegExp): Promise<string> {
    return this.#process.until(pattern);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.ended;
  }
}
