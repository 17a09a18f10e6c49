/** A real authorization server of a few lines: it answers as configured by a test, and records requests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OAuth2Client, type OAuth2ClientOptions } from "../../../src/oauth2/client/client.ts";
import {
  type ConfidentialClientOptions,
  OAuth2Options,
} from "../../../src/oauth2/client/client_options.ts";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly form: URLSearchParams;
}

/** Answers by hand, or with a status (200 by default) and a body, as JSON unless it is a string. */
export type Answering = (
  request: Received,
  response: ServerResponse,
) => Reply | void | Promise<Reply | void>;

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface TokenServer extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
}

export const TOKENS = { access_token: "at-1", token_type: "Bearer" };

export async function tokenServer(answering: Answering): Promise<TokenServer> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { method = "", url: path = "", headers } = request;
    const note = { method, path, headers, form: new URLSearchParams(text) };
    received.push(note);
    const reply = await answering(note, response);
    if (!reply) return;
    const { status = 200, headers: replyHeaders = {}, body = "" } = reply;
    const isText = typeof body === "string";
    const type = isText ? "text/plain" : "application/json";
    response.writeHead(status, { "content-type": type, ...replyHeaders });
    response.end(isText ? body : JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((closed) => server.close(closed));
      server.closeAllConnections();
      await closed;
    },
  };
}

export const SECRET = "s3cret/of the=client&+";

export function optionsOf(
  url: string,
  options: Partial<ConfidentialClientOptions> = {},
): OAuth2Options {
  return new OAuth2Options({
    clientId: "web",
    ...(options.authMethod === "none" ? {} : { clientSecret: SECRET }),
    authorizeUrl: `${url}/authorize`,
    tokenUrl: `${url}/token`,
    revokeUrl: `${url}/revoke`,
    userinfoUrl: `${url}/userinfo`,
    redirectUri: "https://app.example/callback",
    ...options,
  });
}

export function clientOf(
  url: string,
  { fetch, now, ...options }: Partial<ConfidentialClientOptions> & OAuth2ClientOptions = {},
): OAuth2Client {
  return new OAuth2Client(optionsOf(url, options), { fetch, now });
}
