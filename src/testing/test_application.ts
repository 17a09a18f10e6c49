/**
 * An application for tests: providers overridden, lifecycle run, requests without a server.
 *
 * @module
 */
import type { FwApplication } from "../application/application.ts";
import type { Module } from "../core/module/module.ts";
import type { Provider } from "../core/module/provider.ts";
import { FwFactory } from "../application/factory.ts";

/** How a test application differs from the real one. */
export interface TestApplicationOptions {
  /** Providers that take the place of every provider of their keys. */
  readonly overrides?: readonly Provider[];
  /** Settles prefixes and middleware, as the application's main file does; awaited. */
  readonly setUp?: (app: FwApplication) => unknown;
}

/**
 * Creates an application for a test, ready to answer `app.request()`. Its start hooks have run;
 * `close`, or `await using`, runs the stop hooks. It prints nothing: a 5xx tells what went wrong in its
 * `detail`, and an application that configures LogTape in its tests sees the rest.
 *
 * @throws {TypeError} if an override takes the place of nothing
 */
export async function createTestApplication(
  root: Module,
  { overrides = [], setUp }: TestApplicationOptions = {},
): Promise<FwApplication> {
  const app = await FwFactory.create(root, { overrides });
  try {
    await setUp?.(app);
    return await app.ready();
  } catch (error) {
    await app.close();
    throw error;
  }
}
