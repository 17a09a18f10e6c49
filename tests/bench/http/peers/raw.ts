/** The bare runtime: its own server, and what a careful author writes by hand. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { receipt, storedRows, TEXT } from "../fixtures.ts";
import { options } from "./options.ts";
import { serve } from "./serve.ts";

/** Listens. */
export async function listen(): Promise<void> {
  if ("Deno" in globalThis || "Bun" in globalThis) return await serve(answer);
  const server = createServer(answerNode);
  await new Promise<void>((resolve) => server.listen(options.port, "127.0.0.1", resolve));
}

async function answer(request: Request): Promise<Response> {
  const { method, url } = request;
  const at = url.indexOf("/", 8);
  const path = url.slice(at);
  if (method === "POST" && path === "/orders") {
    return Response.json(receipt(await request.json()), { status: 201 });
  }
  if (path === "/text") return new Response(TEXT);
  const data = dataOf(path);
  return data === undefined ? new Response(null, { status: 404 }) : Response.json(data);
}

function answerNode(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = "" } = request;
  if (method === "POST" && url === "/orders") {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const order = JSON.parse(Buffer.concat(chunks).toString());
      sendJson(response, 201, receipt(order));
    });
    return;
  }
  if (url === "/text") {
    response.writeHead(200, { "content-type": "text/plain", "content-length": TEXT.length });
    response.end(TEXT);
    return;
  }
  const data = dataOf(url);
  if (data === undefined) response.writeHead(404).end();
  else sendJson(response, 200, data);
}

function sendJson(response: ServerResponse, status: number, data: unknown): void {
  const body = JSON.stringify(data);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

function dataOf(path: string): unknown {
  if (path === "/json") return { message: TEXT };
  if (path.startsWith("/rows/")) {
    return rowsOf(Number(path.slice(6))).map(({ id, name, email, active, score, tags }) => ({
      id,
      name,
      email,
      active,
      score,
      tags,
    }));
  }
  if (!path.startsWith("/items/")) return undefined;
  const query = path.indexOf("?");
  const id = Number(path.slice(7, query));
  const parameters = new URLSearchParams(path.slice(query));
  const limit = Number(parameters.get("limit"));
  const sort = parameters.get("sort");
  const isValid = Number.isInteger(id) && limit >= 1 && limit <= 100 &&
    (sort === "name" || sort === "created");
  return isValid ? { id, limit, sort } : undefined;
}

const stored = new Map([20, 1000].map((count) => [count, storedRows(count)]));

function rowsOf(count: number) {
  return stored.get(count) ?? [];
}
