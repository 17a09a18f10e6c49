/** Waiting for what happens by itself, no longer than it takes. */
import assert from "node:assert/strict";

/** Waits until something is so, a minute at most. */
export async function eventually(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!isSo()) {
    assert(performance.now() < deadline, `not in a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
