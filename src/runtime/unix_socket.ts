/**
 * Manages the files of Unix sockets.
 *
 * @module
 */

/**
 * Removes the file of a Unix socket on which no process listens, such as a killed process leaves
 * it; returns whether it was removed.
 */
export async function removeStaleSocket(path: string): Promise<boolean> {
  const { lstat, unlink } = await import("node:fs/promises"); // not available in edge bundles
  const isSocket = await lstat(path).then((file) => file.isSocket(), () => false);
  if (!isSocket || !await isRefused(path)) return false;
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error; // another process that starts removed it
  });
  return true;
}

/** Rejects if the folder of a socket's file is missing. */
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
