/** An application with WebSockets whose messages are declared. */
import * as v from "valibot";
import { controller, module, route, upgradeWebSocket } from "../../mod.ts";
import type { ApiOf, Client } from "../../src/client/mod.ts";

/** The messages of a room. */
const Chat = {
  description: "The messages of a room",
  receives: v.object({ text: v.string(), at: v.optional(v.number()) }),
  sends: v.object({ room: v.string(), text: v.string(), born: v.date() }),
};
/** The time in all messages of the server. */
export const BORN = new Date(0);
/** The answer of a route that does not answer before. */
export const silence = Promise.withResolvers<Response>();

class ChatController extends controller("chat", { version: "v1" }) {
  room = route.get(
    "/:room",
    { query: v.object({ greet: v.optional(v.string()) }), openapi: { responses: { 101: Chat } } },
    ({ params: { room }, query: { greet } }, c) =>
      upgradeWebSocket(c, {
        onOpen(_, socket) {
          if (greet) socket.send({ room, text: greet, born: BORN });
        },
        onMessage({ text }, socket) {
          if (text === "leave") return socket.close(1000, "bye");
          if (text === "fail") throw new Error("as this test expects");
          socket.send({ room, text, born: BORN });
        },
      }, { messages: Chat }),
  );
  silent = route.get(
    "/silent/:room",
    { openapi: { responses: { 101: Chat } } },
    () => silence.promise,
  );
  big = route.get(
    "/big/all",
    { openapi: { responses: { 101: Chat } } },
    (_, c) =>
      upgradeWebSocket(c, {
        onMessage: (_, socket) =>
          socket.send({ room: "big", text: "x".repeat(1024 * 1024), born: BORN }),
      }, { messages: Chat }),
  );
  plain = route.get("/plain/all", () => []);
}

/** The root module. */
export const ChatModule = module({ controllers: [ChatController] });

/** Its API. */
export interface Chats extends ApiOf<typeof ChatModule> {}

/** What {@linkcode talk} returns. */
export const TALK = {
  seen: ["1", "2"].map((text) => ({ room: "a b", text, born: BORN.toJSON() })),
  close: [1000, "bye"],
};

/** Sends messages to a room until it closes the WebSocket. */
export async function talk(api: Client<Chats>): Promise<typeof TALK> {
  const socket = await api.connect("/v1/chat/:room", { params: { room: "a b" } });
  for (const text of ["1", "2", "leave"]) socket.send({ text });
  const seen = await Array.fromAsync(socket);
  const { code, reason } = await socket.closed;
  return { seen, close: [code, reason] };
}
