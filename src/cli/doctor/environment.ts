/**
 * Checks of the environment: runtime, variables, permissions and secrets.
 *
 * @module
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { parseUrls } from "../project/database.ts";
import { VERSION } from "../project/framework.ts";
import { permissionFlags, type Project, startCommand } from "../project/project.ts";
import type { Variables } from "../project/variables.ts";
import { readText } from "../system/files.ts";
import { git, hasGit } from "../system/git.ts";
import { denoVersion } from "../system/programs.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

/** The oldest supported Deno. */
const OLDEST_DENO = [2, 9] as const;

/** Checks whether there is a supported Deno. */
export async function checkRuntime({ root }: Project): Promise<Finding> {
  const version = await denoVersion(root);
  if (version === undefined) return problem("runtime", "deno is not on the PATH");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_DENO;
  const isNewEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isNewEnough) return ok("runtime", `Deno ${version}`);
  return problem("runtime", `Deno ${version} is older than ${OLDEST_DENO.join(".")}: deno upgrade`);
}

/** Checks whether the project and the command line are of the same release. */
export function checkFramework({ framework }: Project): Finding {
  const [, wanted] = /@[\^~]?(\d+\.\d+)\.\d+/.exec(framework) ?? [];
  const own = VERSION.replace(/\.\d+$/, "");
  if (wanted === undefined || wanted === own) return ok("framework", framework);
  return warning("framework", `the project has ${framework}, and this command line is ${VERSION}`);
}

const SUBJECT = "environment";

/** Checks whether the variables of `.env.example` are set and valid. */
export function checkVariables({ root }: Project, variables: Variables): readonly Finding[] {
  const example = readText(join(root, ".env.example"));
  if (example === undefined) return [skipped(SUBJECT, ".env.example is missing")];
  const names = Object.keys(parseEnv(example));
  const missing = names.filter((name) => !variables[name]);
  const wrong = names.flatMap((name) => {
    const kind = wantedKind(name, variables[name]);
    return kind === undefined ? [] : [[name, kind]];
  });
  if (missing.length === 0 && wrong.length === 0) {
    return [ok(SUBJECT, `all of ${names.join(", ")} are set`)];
  }
  return [
    ...missing.length > 0
      ? [problem(SUBJECT, `${missing.join(", ")} of .env.example ${isOrAre(missing)} not set`)]
      : [],
    ...wrong.map(([name, kind]) => problem(SUBJECT, `${name} is not a ${kind}`)),
  ];
}

/** Checks whether the application has more permissions than it needs. */
export function checkPermissions(project: Project): Finding {
  const { root, configFile } = project;
  const config = readText(join(root, configFile)) ?? "";
  const command = startCommand(project);
  if (command === undefined) return skipped("permissions", `${configFile} has no task start`);
  const isAll = /(^|\s)(-\w*A\w*|--allow-all)(\s|$)/.test(command) ||
    (/(^|\s)-P\b/.test(command) && /"all"\s*:\s*true/.test(config));
  if (isAll) {
    return warning("permissions", "the task start grants all: list those that are needed");
  }
  const flags = permissionFlags(command)
    .filter((flag) => !/^--(?:deny|ignore)-/.test(flag))
    .map((flag) => /^-(?:P|-permission-set)/.test(flag) ? flag : flag.replace(/=.*/, ""));
  if (flags.length > 0) return ok("permissions", `the task start grants ${flags.join(", ")}`);
  return warning("permissions", "the task start grants none, and prompts for each");
}

/** The begin of a private key in PEM (RFC 7468), with line breaks or `\n` in place of them. */
const PRIVATE_KEY = String
  .raw`-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----(\\n[A-Za-z0-9+/]|[[:space:]]*$)`;

/**
 * Checks whether git tracks `.env` and the like, or a private key, and whether only its owner can
 * read `.env`.
 */
export async function checkSecrets({ root }: Project): Promise<Finding> {
  const tracked = await checkTracked(root);
  return tracked.level === "problem" || !isShared(join(root, ".env"))
    ? tracked
    : warning("secrets", ".env can be read by other users: chmod 600 .env");
}

async function checkTracked(root: string): Promise<Finding> {
  if (!hasGit()) return skipped("secrets", "git is not on the PATH");
  const inRoot = (...args: string[]) => git(args, { cwd: root });
  if ((await inRoot("rev-parse")).code !== 0) {
    return skipped("secrets", "this is not a git repository");
  }
  const { stdout } = await inRoot("ls-files", ".env", ".env.*");
  const tracked = stdout.split("\n").filter((file) => file !== "" && file !== ".env.example");
  if (tracked.length > 0) {
    const files = tracked.join(" ");
    return problem("secrets", `${files} in the repository: git rm --cached ${files}`);
  }
  const keys = (await inRoot("grep", "-lIE", "-e", PRIVATE_KEY)).stdout.split("\n").filter(Boolean);
  if (keys.length > 0) {
    return warning("secrets", `a private key is in the repository: ${keys.join(" ")}`);
  }
  const { code } = await inRoot("check-ignore", "-q", ".env");
  if (code === 0) return ok("secrets", ".env is not in the repository");
  return warning("secrets", ".env is not in .gitignore");
}

/** Checks whether other users may read or write a file; Windows has no modes. */
function isShared(file: string): boolean {
  if (process.platform === "win32") return false;
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}

/** Returns the kind of value that a variable needs by its name, if its value is of another. */
function wantedKind(name: string, value = ""): string | undefined {
  if (value === "") return undefined;
  if (name === "PORT" && !(/^\d{1,5}$/.test(value) && Number(value) <= 65_535)) return "port";
  if (/_(URL|URI|ISSUER)$/.test(name) && parseUrls(value).length === 0) return "URL";
  return name.endsWith("_HOPS") && !/^\d+$/.test(value) ? "number" : undefined;
}

function isOrAre(list: readonly unknown[]): string {
  return list.length === 1 ? "is" : "are";
}
