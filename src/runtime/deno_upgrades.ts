/**
 * The WebSockets of a server on Deno: bounds those that Deno leaves unopened, and closes the others
 * when the server stops.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { GOING_AWAY } from "./adapter.ts";

/** With more unopened upgrades, it is checked whether a client is still connected. */
const USUAL = 16;

/** The most upgrades that are not open yet. */
const MOST = 256;

/** How long the check takes, in milliseconds: random, so that no client can time its reset. */
const SHORTEST_CHECK_MS = 200;
const LONGEST_CHECK_MS = 400;

/** The part of an open WebSocket that is used here. */
interface OpenSocket {
  close(code: number, reason: string): void;
}

/**
 * The WebSockets of one server, and its upgrades that are not open yet. If a client resets its
 * connection before Deno has sent the response with 101, its WebSocket never opens, fails or
 * closes, and Deno keeps the descriptor until the process ends; to close it does not help.
 */
export class DenoUpgrades {
  #unopened = 0;
  #isReported = false;
  readonly #open = new Set<OpenSocket>();
  #isLeaving = false;

  /**
   * Reads the signal of an upgrade request while many upgrades are unopened, so that `begin()` can
   * check whether its client has left.
   */
  watch(request: Request): void {
    // a signal aborts only if it was read before the client left
    if (this.#unopened >= USUAL && request.headers.has("upgrade")) void request.signal;
  }

  /**
   * Resolves to a function that ends the count of the upgrade, for when its WebSocket is open or
   * has failed; or to `undefined` if its client has left or 256 upgrades are unopened.
   */
  async begin(request: Request): Promise<(() => void) | undefined> {
    if (this.#unopened >= USUAL && await isGone(request)) return undefined;
    if (this.#unopened >= MOST) {
      this.#report();
      return undefined;
    }
    this.#unopened++;
    let isSettled = false;
    return () => {
      if (!isSettled) this.#unopened--;
      isSettled = true;
    };
  }

  /** Adds an open WebSocket. */
  opened(socket: OpenSocket): void {
    this.#open.add(socket);
    if (this.#isLeaving) socket.close(...GOING_AWAY);
  }

  /** Removes a WebSocket that is closed. */
  closed(socket: OpenSocket): void {
    this.#open.delete(socket);
  }

  /**
   * Closes every WebSocket with {@linkcode GOING_AWAY}: Deno would do so when the bodies that are
   * being received are complete, and never when the server is cut.
   */
  leave(): void {
    this.#isLeaving = true;
    for (const socket of this.#open) socket.close(...GOING_AWAY);
  }

  #report(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    getLogger(["fw", "runtime"]).error(
      "WebSockets are refused with 503: {unopened} clients have disconnected during their " +
        "upgrade, and Deno keeps their descriptors until the process ends",
      { unopened: this.#unopened },
    );
  }
}

async function isGone({ signal }: Request): Promise<boolean> {
  const delayMs = SHORTEST_CHECK_MS + Math.random() * (LONGEST_CHECK_MS - SHORTEST_CHECK_MS);
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  return signal.aborted;
}
