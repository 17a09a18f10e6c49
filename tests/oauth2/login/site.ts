/** An application, its provider and somebody's browser. */
import type { FwApplication } from "../../../mod.ts";
import { Browser } from "./browser.ts";
import { exampleLogin, type ExampleLoginOptions, loginApplication } from "./login_application.ts";
import { Provider } from "./provider.ts";

export interface Visit {
  readonly provider: Provider;
  readonly browser: Browser;
}

export interface Site extends Visit, AsyncDisposable {
  readonly app: FwApplication;
}

export async function site(options: Partial<ExampleLoginOptions> = {}): Promise<Site> {
  const provider = await Provider.start();
  const app = await loginApplication(exampleLogin({ fetch: provider.fetch, ...options }));
  return {
    app,
    provider,
    browser: new Browser(app),
    async [Symbol.asyncDispose]() {
      await app.close();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** Begins a login, and agrees at the provider; returns the path of the callback. */
export async function begun({ provider, browser }: Visit, path = "/auth/login"): Promise<string> {
  const response = await browser.open(path);
  return `/auth/callback?${provider.agree(response.headers.get("location"))}`;
}
