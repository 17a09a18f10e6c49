/** Opens connections that send nothing, and holds them: the arguments are an origin and a number. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

const [origin = "", count] = process.argv.slice(2);
const { hostname, port } = new URL(origin);
const sockets: Socket[] = [];
let left = Number(count);

await Promise.all(Array.from({ length: 50 }, async () => {
  while (left-- > 0) sockets.push(await opened());
}));
console.log(`OPEN ${sockets.length}`);

/** A full queue of the listening socket refuses connections: they are tried again. */
async function opened(): Promise<Socket> {
  for (;;) {
    const socket = connect({ host: hostname, port: Number(port) });
    try {
      await once(socket, "connect");
      return socket.on("error", () => {});
    } catch {
      await delay(50);
    }
  }
}
