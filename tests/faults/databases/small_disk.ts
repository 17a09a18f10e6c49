/** A disk that is soon full. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import type { Given } from "../scenario.ts";
import type { Running } from "./endure.ts";

/** A disk of some MiB, in memory. */
export interface SmallDisk extends Disposable {
  /** Returns the path of a file on it. */
  path(file: string): string;
  /** Fills what is free of it. */
  fill(): void;
  /** Frees it again. */
  free(): void;
}

const CHUNK = new Uint8Array(65_536);

/** Mounts a disk, unmounted at the end of its scope; `undefined` where the system refuses it. */
export function smallDisk(mib: number): SmallDisk | undefined {
  const folder = new TemporaryFolder();
  const options = ["-t", "tmpfs", "-o", `size=${mib}m,mode=755`, "tmpfs", folder.path];
  if (spawnSync("mount", options).status !== 0) {
    folder[Symbol.dispose]();
    return undefined;
  }
  const ballast = join(folder.path, "ballast");
  return {
    path: (file) => join(folder.path, file),
    fill() {
      const file = openSync(ballast, "a");
      try {
        // to the last byte
        for (const chunk of [CHUNK, CHUNK.subarray(0, 4096), CHUNK.subarray(0, 1)]) {
          while (writes(file, chunk));
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      spawnSync("umount", ["-l", folder.path]);
      folder[Symbol.dispose]();
    },
  };
}

/** Fills the disk of a database until after its application has refused a request: once. */
export async function fillFor(
  disk: SmallDisk,
  { load }: Running,
  { isQuick }: Given,
): Promise<number> {
  disk.fill();
  await load.refused();
  await delay(isQuick ? 1000 : 10_000);
  disk.free();
  return 1;
}

function writes(file: number, chunk: Uint8Array): boolean {
  try {
    return writeSync(file, chunk) === chunk.length;
  } catch {
    return false; // no space is left
  }
}
