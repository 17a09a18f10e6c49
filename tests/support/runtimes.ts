/** The runtimes that the suites run on; all come from npm. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ROOT } from "./project.ts";

/** The newest Node. */
export const NODE = "node@24.21.0";

/** The oldest Node that the documentation promises. */
export const OLDEST_NODE = "node@22.21.0";

/** Bun. */
export const BUN = "bun@1.4.4";

/** Installs a runtime, such as `node@24.21.0`; resolves to the path of its program. */
export async function runtimeOf(release: string): Promise<string> {
  const [name = ""] = release.split("@");
  const print = [name, "-e", "console.log(process.execPath)"];
  const { stdout } = await promisify(execFile)("npx", ["-y", "-p", release, ...print], {
    cwd: ROOT,
  });
  return stdout.trim();
}
