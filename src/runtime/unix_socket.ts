/**
 * The files of Unix sockets.
 *
 * @module
 */
/**
 * Removes the file of a Unix socket on which nobody listens any more, as a process leaves it that was
 * killed; tells whether it did so.
 */
export async function removeStaleSocket(path: string): Promise<boolean> {
  const { lstat, unlink } = await import("node:fs/promises"); // which bundles for the edge have not
  const isSocket = await lstat(path).then((file) => file.isSocket(), () => false);
  if (!isSocket || !await isRefused(path)) return false;
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error; // another process that starts has done it
  });
  return true;
}

/** Rejects if the folder that a socket's file is to be in is not there. */
export async function checkFolder(path: string): Promise<void> {
  const [{ access }, { dirname }] = await Promise.all([
    import("node:fs/promises"),
    import("node:path"),
  ]);
  await access(dirname(path));
}

async function isRefused(path: string): Promise<boolean> {
  const { connect } = await import("node:net");
  return await new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
  });
}
