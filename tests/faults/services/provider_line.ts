/** Stands between an application and its identity provider, counts requests and can lie. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import type { Reply } from "../../oauth2/resource_server/jwks_server.ts";

/** The way of an application to an identity provider. */
export class ProviderLine implements AsyncDisposable {
  /** The answer in place of the provider's. */
  reply: Reply | undefined;
  /** The requests of the application. */
  requestCount = 0;
  readonly #provider: DevelopmentIdentityProvider;
  readonly #server = createServer((request, response) => {
    this.requestCount += 1;
    response.on("error", () => {});
    const { reply } = this;
    if (reply) reply(response);
    else void this.#forward(request.url ?? "", response);
  });
  #port = 0;

  private constructor(provider: DevelopmentIdentityProvider) {
    this.#provider = provider;
  }

  /** Listens. */
  static async to(provider: DevelopmentIdentityProvider): Promise<ProviderLine> {
    const line = new ProviderLine(provider);
    await line.restore();
    return line;
  }

  /** The issuer, as the application knows it. */
  get issuer(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Refuses connections. */
  async down(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Forwards requests again. */
  async restore(): Promise<void> {
    this.reply = undefined;
    if (this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }

  async #forward(path: string, response: ServerResponse): Promise<void> {
    const answer = await fetch(this.#provider.issuer + path);
    const body = await answer.text();
    if (this.reply) return this.reply(response); // it lies by now, and this may be a new key
    const type = answer.headers.get("content-type") ?? "application/json";
    response.writeHead(answer.status, { "content-type": type }).end(body);
  }
}
