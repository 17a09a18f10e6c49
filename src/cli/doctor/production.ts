/**
 * What is fine in development, and not in production.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readText } from "../file_plan.ts";
import { hasFile, type Project } from "../project.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import type { Variables } from "./variables.ts";

const SUBJECT = "production";
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Looks for options that are not safe in production. */
export function checkProduction(project: Project, variables: Variables): readonly Finding[] {
  const sources = sourcesOf(project);
  const findings = [
    variables["FW_ENV"] !== "production" &&
    warning(SUBJECT, "FW_ENV is not production: set it where the application is deployed"),
    !/\.enableProductionErrors(FromEnv)?\(/.test(sources) &&
    problem(SUBJECT, "5xx responses tell what went wrong: call enableProductionErrorsFromEnv()"),
    !/\.useRateLimit\(|\brateLimit\(/.test(sources) &&
    warning(SUBJECT, "nothing limits how many requests a client makes: call useRateLimit()"),
    !/\.listenGraceful\(/.test(sources) && /\.listen\(/.test(sources) &&
    warning(SUBJECT, "requests are cut off when it stops: call listenGraceful()"),
    ...checkUrls(variables),
  ].filter((finding) => finding !== false);
  return findings.length === 0 ? [ok(SUBJECT, "nothing unsafe was found")] : findings;
}

/** Passwords and keys have no place on an unencrypted wire, nor data in memory. */
function checkUrls(variables: Variables): readonly Finding[] {
  const names = Object.keys(variables).filter((name) => /^OAUTH2_\w*(ISSUER|URL)$/.test(name));
  const oauth2 = names.flatMap((name) => {
    const url = URL.parse(variables[name] ?? "");
    if (url?.protocol !== "http:") return [];
    const why = LOOPBACK.test(url.hostname) ? "is of this machine" : "is not https";
    return [problem(SUBJECT, `${name} ${why}`)];
  });
  const database = variables["DATABASE_URL"] ?? "";
  if (/^sqlite:(\/\/)?:memory:/.test(database)) {
    oauth2.push(problem(SUBJECT, "DATABASE_URL is in memory: all is lost at the end"));
  }
  const url = URL.parse(database);
  if (url?.password && DEFAULT_PASSWORDS.has(url.password)) {
    oauth2.push(problem(SUBJECT, "the password in DATABASE_URL is that of development"));
  }
  return oauth2;
}

/** The passwords that projects begin with. */
const DEFAULT_PASSWORDS: ReadonlySet<string> = new Set(["postgres", "mysql"]);

function sourcesOf(project: Project): string {
  if (!hasFile(project, "src")) return "";
  const folder = join(project.root, "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"))
    .map((file) => readText(join(folder, file)) ?? "").join("\n");
}
