/** Waiting for events without a fixed delay. */
import assert from "node:assert/strict";

/** Waits for a condition, at most a minute. */
export async function eventually(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!isSo()) {
    assert(performance.now() < deadline, `not in a minute: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
