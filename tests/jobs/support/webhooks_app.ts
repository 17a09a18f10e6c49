/** Applications that send webhooks, and a server that receives them. */
import { Buffer } from "node:buffer";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { FwFactory, module } from "../../../mod.ts";
import { DbModule, DbOptions, DbService } from "../../../src/db/mod.ts";
import {
  type EventHandler,
  Jobs,
  JobsModule,
  jobTables,
  Webhooks,
  WebhooksModule,
  type WebhooksOptions,
  webhookTables,
} from "../../../src/jobs/mod.ts";
import { Clock } from "./jobs_app.ts";

class Db extends DbService.with({ ...jobTables, ...webhookTables }) {}

/** Creates an application, which sends to loopback unless the options differ. */
export async function webhooksApp(
  url: string,
  { handlers = {}, ...options }: WebhooksOptions & {
    readonly handlers?: Readonly<Record<string, EventHandler>>;
  } = {},
) {
  const clock = new Clock();
  class Handlers {
    constructor() {
      Object.assign(this, handlers);
    }
  }
  const app = await FwFactory.create(module({
    name: "AppModule",
    imports: [
      DbModule.forRoot(Db, DbOptions.fromUrl(url).now(clock.now)),
      JobsModule.forRoot(Db),
      WebhooksModule.forRoot(Db, { allowLocal: true, ...options }),
    ],
    providers: [Handlers],
  }));
  const db = app.get(Db);
  await db.createTables();
  return {
    db,
    clock,
    jobs: app.get(Jobs),
    webhooks: app.get(Webhooks),
    [Symbol.asyncDispose]: () => app.close({ drainMs: 1000 }),
  };
}

/** A request that the server has received. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Serves on loopback, and answers with 204 unless `answer` does. */
export async function receiving(
  answer: (response: ServerResponse, path: string) => void = (response) =>
    void response.writeHead(204).end(),
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk)).on("end", () => {
      const path = request.url ?? "";
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString() });
      answer(response, path);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    port,
    url: `http://127.0.0.1:${port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
