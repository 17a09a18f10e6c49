/**
 * What is fine in development, and not in production.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DEVELOPMENT_PASSWORDS } from "../project/database.ts";
import { readText, withoutComments } from "../system/files.ts";
import { hasFile, type Project } from "../project/project.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import type { Variables } from "./environment.ts";

const SUBJECT = "production";
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Looks for options that are not safe in production: in the sources, and in the environment. */
export function checkProduction(project: Project, variables: Variables): readonly Finding[] {
  const findings = [
    ...checkSources(sourcesOf(project)),
    ...checkEnvironment(variables["FW_ENV"]),
    ...checkOAuth2(variables),
    ...checkDatabaseUrl(variables["DATABASE_URL"] ?? ""),
  ];
  return findings.length === 0 ? [ok(SUBJECT, "nothing unsafe was found")] : findings;
}

function checkSources(sources: string): readonly Finding[] {
  const findings: Finding[] = [];
  if (!/\.enableProductionErrors(FromEnv)?\((?!false)/.test(sources)) {
    findings.push(
      problem(SUBJECT, "5xx responses tell what went wrong: call enableProductionErrorsFromEnv()"),
    );
  }
  if (!/\.useRateLimit\(|\brateLimit\(/.test(sources)) {
    findings.push(
      warning(SUBJECT, "nothing limits how many requests a client makes: call useRateLimit()"),
    );
  }
  if (/\.listen\(/.test(sources)) {
    findings.push(
      warning(SUBJECT, "requests are cut off when it stops: call listenGraceful(), not listen()"),
    );
  }
  return findings;
}

function checkEnvironment(name: string | undefined): readonly Finding[] {
  if (name === "production") return [];
  return [warning(SUBJECT, "FW_ENV is not production: set it where the application is deployed")];
}

/** Tokens and keys have no place on an unencrypted wire. */
function checkOAuth2(variables: Variables): readonly Finding[] {
  const names = Object.keys(variables).filter((name) => /^OAUTH2_\w*(ISSUER|URL)$/.test(name));
  return names.flatMap((name) => {
    const url = URL.parse(variables[name] ?? "");
    if (url?.protocol !== "http:") return [];
    const why = LOOPBACK.test(url.hostname) ? "is of this machine" : "is not https";
    return [problem(SUBJECT, `${name} ${why}`)];
  });
}

function checkDatabaseUrl(url: string): readonly Finding[] {
  if (/^sqlite:(\/\/)?:memory:/.test(url)) {
    return [problem(SUBJECT, "DATABASE_URL is in memory: all is lost at the end")];
  }
  const passwords = Object.values(DEVELOPMENT_PASSWORDS);
  if (!passwords.includes(URL.parse(url)?.password ?? "")) return [];
  return [problem(SUBJECT, "the password in DATABASE_URL is that of development")];
}

function sourcesOf(project: Project): string {
  if (!hasFile(project, "src")) return "";
  const folder = join(project.root, "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"))
    .map((file) => withoutComments(readText(join(folder, file)) ?? "")).join(
      "\n",
    );
}
