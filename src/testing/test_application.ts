/**
 * Applications for tests: with overridden providers, and requests without a server.
 *
 * @module
 */
import type { FwApplication } from "../application/application.ts";
import type { Module } from "../core/module/module.ts";
import type { Provider } from "../core/module/provider.ts";
import { FwFactory } from "../application/factory.ts";

/** Options of {@linkcode createTestApplication}. */
export interface TestApplicationOptions {
  /** Providers that replace every provider of their keys. */
  readonly overrides?: readonly Provider[];
  /** Configures prefixes and middleware, as the application's main file does; awaited. */
  readonly setUp?: (app: FwApplication) => unknown;
}

/**
 * Creates an application for a test, ready to answer `app.request()`. Its start hooks have run;
 * `close`, or `await using`, runs the stop hooks. It prints nothing: the `detail` of a 5xx is the
 * message of the error, and a test that configures LogTape sees the rest.
 *
 * @throws {TypeError} if an override replaces nothing
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
    await app.close().catch(() => {}); // the first error is the cause
    throw error;
  }
}
