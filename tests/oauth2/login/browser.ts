/** As much of a browser as matters here: a jar of cookies, and where their attributes let them go. */
import assert from "node:assert/strict";
import type { FwApplication } from "../../../mod.ts";

interface Cookie {
  readonly value: string;
  readonly attributes: ReadonlySet<string>;
}

export class Browser {
  /** Its cookies by name. */
  readonly cookies = new Map<string, Cookie>();
  readonly #app: FwApplication;
  readonly #site: string;

  constructor(app: FwApplication, site = "https://shop.example") {
    this.#app = app;
    this.#site = site;
  }

  /** Opens a page. */
  open(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#request(path, [...this.cookies], init);
  }

  /** Posts a form as from a page of another site. */
  post(path: string, form: URLSearchParams): Promise<Response> {
    const sent = [...this.cookies].filter(([, it]) => it.attributes.has("samesite=none"));
    const headers = { origin: "https://id.example.com" };
    return this.#request(path, sent, { method: "POST", body: form, headers });
  }

  async #request(
    path: string,
    cookies: readonly (readonly [string, Cookie])[],
    { headers, ...init }: RequestInit = {},
  ): Promise<Response> {
    const cookie = cookies.map(([name, { value }]) => `${name}=${value}`).join("; ");
    const response = await this.#app.request(this.#site + path, {
      ...init,
      headers: { ...headers as Record<string, string>, ...(cookie && { cookie }) },
    });
    for (const header of response.headers.getSetCookie()) this.#keep(header);
    return response;
  }

  #keep(header: string): void {
    const [, name = "", value = "", rest = ""] = /^([^=]+)=([^;]*)(.*)$/.exec(header) ?? [];
    const attributes = new Set(rest.toLowerCase().split(";").map((attribute) => attribute.trim()));
    const isHost = name.startsWith("__Host-");
    assert(attributes.has("httponly"), header);
    assert(!isHost || attributes.has("secure") && attributes.has("path=/"), header);
    assert(!attributes.has("samesite=none") || attributes.has("secure"), header);
    this.cookies.set(name, { value, attributes });
  }
}
