/**
 * Folders for temporary files.
 *
 * @module
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for temporary files, removed at the end of its scope. */
export class TemporaryFolder implements Disposable {
  readonly path: string = realpathSync(mkdtempSync(join(tmpdir(), "fw-test-")));

  /** Lists all files in it but those of git, with their texts. */
  files(folder = ""): Record<string, string> {
    const root = join(this.path, folder);
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    return Object.fromEntries(
      entries.filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((file) => !file.includes("/.git/"))
        .toSorted()
        .map((
          file,
        ) => [file.slice(root.replace(/\/$/, "").length + 1), readFileSync(file, "utf8")]),
    );
  }

  /** Lists the names of what is in it. */
  names(): readonly string[] {
    return readdirSync(this.path).toSorted();
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
