/**
 * The files of Unix sockets.
 *
 * @module
 */
import { lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";

/**
 * Removes the file of a Unix socket on which nobody listens any more, as a process leaves it that was
 * killed; tells whether it did so.
 */
export async function removeStaleSocket(path: string): Promise<boolean> {
  const isSocket = await lstat(path).then((file) => file.isSocket(), () => false);
  if (!isSocket || !await isRefused(path)) return false;
  await unlink(path);
  return true;
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
