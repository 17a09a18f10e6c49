/**
 * An application for tests: providers overridden, lifecycle run, requests without a server.
 *
 * @module
 */
import type { FwApplication } from "../application.ts";
import type { Module } from "../core/module.ts";
import type { InjectionKey, Provider } from "../core/provider.ts";
import { FwFactory } from "../factory.ts";

/** How a test application differs from the real one. */
export interface TestApplicationOptions {
  /** Providers that take the place of every provider of their keys. */
  readonly overrides?: readonly Provider[];
  /** Settles prefixes and middleware, as the application's main file does; awaited. */
  readonly setUp?: (app: FwApplication) => unknown;
}

/** Options of a test request. */
export interface TestRequestInit extends RequestInit {
  /** A value to send as a JSON body; the method is then POST unless another is given. */
  readonly json?: unknown;
}

/** A running application without a server. */
export interface TestApplication extends AsyncDisposable {
  /** The application itself. */
  readonly app: FwApplication;
  /** Answers a request. */
  request(path: string, init?: TestRequestInit): Promise<Response>;
  /** Gives a provider of any module. */
  get<T>(key: InjectionKey<T>): T;
  /** Runs the stop hooks. */
  close(): Promise<void>;
}

/**
 * Creates an application for a test. Its start hooks have run; `close`, or `await using`, runs the
 * stop hooks.
 *
 * @throws {TypeError} if an override takes the place of nothing
 */
export async function createTestApplication(
  root: Module,
  { overrides = [], setUp }: TestApplicationOptions = {},
): Promise<TestApplication> {
  const app = await FwFactory.create(root, { overrides });
  const close = () => app.close();
  try {
    await setUp?.(app);
    await app.ready();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    app,
    request: (path, init = {}) => app.request(path, requestInit(init)),
    get: (key) => app.get(key),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function requestInit({ json, ...init }: TestRequestInit): RequestInit {
  if (json === undefined) return init;
  const headers = new Headers(init.headers);
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return { method: "POST", ...init, headers, body: JSON.stringify(json) };
}
