/**
 * Checks for unsafe settings in production: safe defaults that are off, sources and environment.
 *
 * @module
 */
import type { ApplicationOptions } from "../project/application.ts";
import { databaseOfUrl, DEVELOPMENT_PASSWORDS, parseUrls } from "../project/database.ts";
import type { Project, SourceFile } from "../project/project.ts";
import type { Variables } from "../project/variables.ts";
import { withoutComments } from "../system/files.ts";
import { type Finding, ok, problem, PRODUCTION as SUBJECT, warning } from "./finding.ts";
import { checkSafeguards } from "./safeguards.ts";

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Calls in sources, and why they are unsafe. */
const UNSAFE_CALLS: Readonly<Record<string, string>> = {
  listen: "a stop interrupts requests: call listenGraceful(), not listen()",
  anyIssuer: "tokens of every issuer are accepted: call withIssuer(), not anyIssuer()",
  anyAudience: "tokens for other services are accepted: call withAudience(), not anyAudience()",
};

/** Checks the application, its sources and its environment for unsafe settings. */
export async function checkProduction(
  project: Project,
  { variables, sources, ...options }: ApplicationOptions & {
    readonly variables: Variables;
    readonly sources: readonly SourceFile[];
  },
): Promise<readonly Finding[]> {
  const findings = [
    ...await checkSafeguards(project, options),
    ...checkSources(sources.map(({ text }) => withoutComments(text)).join("\n")),
    ...checkEnvironment(variables["FW_ENV"]),
    ...checkOAuth2(variables),
    ...checkDatabases(variables),
  ];
  return findings.length === 0 ? [ok(SUBJECT, "nothing unsafe was found")] : findings;
}

function checkSources(sources: string): readonly Finding[] {
  const unsafe = Object.entries(UNSAFE_CALLS).filter(([name]) => sources.includes(`.${name}(`));
  return unsafe.map(([, why]) => warning(SUBJECT, why));
}

function checkEnvironment(name: string | undefined): readonly Finding[] {
  if (name === "production") return [];
  if (name === "development") {
    return [problem(SUBJECT, "FW_ENV is development: 5xx responses reveal errors")];
  }
  return [warning(SUBJECT, "FW_ENV is not production")];
}

/** Tokens and keys need an encrypted connection. */
function checkOAuth2(variables: Variables): readonly Finding[] {
  const names = Object.keys(variables).filter((name) => /^OAUTH2_\w*(ISSUER|URL)$/.test(name));
  return names.flatMap((name) => {
    const url = URL.parse(variables[name] ?? "");
    if (url?.protocol !== "http:") return [];
    const why = LOOPBACK.test(url.hostname) ? "is on this machine" : "is not https";
    return [problem(SUBJECT, `${name} ${why}`)];
  });
}

/** Checks the URLs of databases: `DATABASE_URL`, and others such as `REPORTS_DATABASE_URL`. */
function checkDatabases(variables: Variables): readonly Finding[] {
  const names = Object.keys(variables).filter((name) => /^(?!TEST_)\w*DATABASE_URL$/.test(name));
  return names.sort().flatMap((name) => checkDatabaseUrl(name, variables[name] ?? ""));
}

function checkDatabaseUrl(name: string, url: string): readonly Finding[] {
  if (/^sqlite:(\/\/)?:memory:/.test(url)) {
    return [problem(SUBJECT, `${name} is in memory: data is lost at the end`)];
  }
  const database = databaseOfUrl(url);
  const urls = parseUrls(url);
  const [parsed] = urls;
  if (!parsed || database !== "postgres" && database !== "mysql") return [];
  const findings: Finding[] = [];
  if (Object.values(DEVELOPMENT_PASSWORDS).includes(parsed.password)) {
    findings.push(problem(SUBJECT, `${name} has the password of development`));
  }
  if (!urls.every(({ hostname }) => LOOPBACK.test(hostname)) && !isVerified(parsed.searchParams)) {
    const mode = database === "postgres" ? "sslmode=verify-full" : "ssl-mode=VERIFY_IDENTITY";
    findings.push(
      warning(SUBJECT, `${name} names another host, without verified TLS: add ?${mode}`),
    );
  }
  return findings;
}

/** Checks whether the parameters of a database's URL need TLS with a valid certificate. */
function isVerified(parameters: URLSearchParams): boolean {
  const mode = parameters.get("sslmode") ?? parameters.get("ssl-mode") ?? "";
  return /^verify/i.test(mode) ||
    parameters.has("sslrootcert") || parameters.has("ssl-ca") ||
    /true}?$/.test(parameters.get("ssl") ?? "") ||
    parameters.get("sslaccept") === "strict" || parameters.get("channel_binding") === "require";
}
