/** Starts the peer that `PEER` names, and says when it listens. */
import process from "node:process";
import { hasDatabase, options } from "./options.ts";

const peers: Readonly<Record<string, () => Promise<{ listen(): Promise<void> }>>> = {
  fw: () => hasDatabase(options.mode) ? import("./users/fw.ts") : import("./fw.ts"),
  hono: () => import("./hono.ts"),
  hono_zod: () => import("./hono_zod.ts"),
  elysia: () => import("./elysia.ts"),
  fastify: () => import("./fastify.ts"),
  nest_express: () => import("../.built/nest.js"),
  nest_fastify: () => import("../.built/nest.js"),
  raw: () => import("./raw.ts"),
  hono_sql: () => import("./users/hono.ts"),
  hono_drizzle: () => import("./users/hono.ts"),
  hono_prisma: () => import("./users/hono.ts"),
  hono_typeorm: () => import("./users/hono.ts"),
  fastify_sql: () => import("./users/fastify.ts"),
};
const load = peers[process.env.PEER ?? ""];
if (!load) throw new Error(`Unknown peer: ${process.env.PEER}`);
await (await load()).listen();
process.stderr.write("READY\n");
