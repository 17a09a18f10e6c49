/**
 * Applications for tests: with overridden providers, and requests without a server.
 *
 * @module
 */
import type { FwApplication } from "../application/application.ts";
import type { ApiOf } from "../client/api.ts";
import { type Client, createClient, type Send } from "../client/client.ts";
import type { Module } from "../core/module/module.ts";
import type { Provider } from "../core/module/provider.ts";
import { FwFactory } from "../application/factory.ts";
import { checkNames, refusing } from "../platform/option_names.ts";
import { TestJobs } from "./test_jobs.ts";

/** Options of {@linkcode createTestApplication}. */
export interface TestApplicationOptions {
  /** Providers that replace every provider of their keys. */
  readonly overrides?: readonly Provider[];
  /** Configures prefixes and middleware, as the application's main file does; awaited. */
  readonly setUp?: (app: FwApplication) => unknown;
}

/** An application for a test. */
export interface TestApplication<M extends Module = Module> extends FwApplication {
  /**
   * A client of the module's routes, without a server; `setUp` enables the versions of paths. Its
   * paths start after the global prefix. For other options, pass `app.fetch` to `createClient`.
   */
  readonly client: Client<ApiOf<M>>;
  /** The jobs of the application, which run when the test drains them. */
  readonly jobs: TestJobs;
}

/**
 * Creates an application for a test, ready to answer `app.request()`. Its start hooks have run;
 * `close`, or `await using`, runs the stop hooks. It prints nothing: the `detail` of a 5xx is the
 * message of the error, and a test that configures LogTape sees the rest.
 *
 * @throws {TypeError} if an override replaces nothing, or an option is unknown
 */
export async function createTestApplication<const M extends Module>(
  root: M,
  options: TestApplicationOptions = {},
): Promise<TestApplication<M>> {
  checkNames(options, {
    known: ["overrides", "setUp"],
    refuse: refusing("create test application"),
  });
  const { overrides = [], setUp } = options;
  const app = await FwFactory.create(root, { overrides });
  try {
    await setUp?.(app);
    await app.ready();
    const base = new URL(app.globalPrefix, "http://localhost");
    const client = createClient<ApiOf<M>>(base, { fetch: abortable(app.fetch) });
    return Object.assign(app, { client, jobs: new TestJobs(app) });
  } catch (error) {
    await app.close().catch(() => {}); // the first error is the cause
    throw error;
  }
}

/**
 * Returns a `fetch` whose calls end when the signal of their request aborts, as those of a server
 * do: the call rejects with its reason, or the body of its response fails with it.
 */
function abortable(fetch: (request: Request) => Response | Promise<Response>): Send {
  return async (request) => {
    const { signal } = request;
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
    const answer = Promise.resolve(fetch(request));
    const response = await Promise.race([answer, aborted.promise]).catch((error) => {
      answer.then(({ body }) => body?.cancel(error)).catch(() => {}); // nobody reads it
      throw error;
    });
    const { body } = response;
    return body
      ? new Response(body.pipeThrough(new TransformStream(), { signal }), response)
      : response;
  };
}
