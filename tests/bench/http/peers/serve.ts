/** Serves a function of Request and Response on the runtime that runs it. */
import { options } from "./options.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** Listens; `@hono/node-server` is what Hono's documentation uses on Node. */
export async function serve(fetch: Fetch): Promise<void> {
  const { port } = options;
  const hostname = "127.0.0.1";
  if ("Deno" in globalThis) {
    Deno.serve({ port, hostname, onListen() {} }, fetch);
  } else if ("Bun" in globalThis) {
    Bun.serve({ port, hostname, fetch });
  } else {
    const server = await import("@hono/node-server");
    await new Promise((resolve) => server.serve({ fetch, port, hostname }, resolve));
  }
}
