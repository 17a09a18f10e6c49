/**
 * Checks of the safe defaults that an application has turned off.
 *
 * @module
 */
import {
  type ApplicationOptions,
  type ListedSafeguards,
  safeguardsOf,
} from "../project/application.ts";
import type { Project } from "../project/project.ts";
import { lineOf } from "../terminal/cli_error.ts";
import {
  type Finding,
  listSome,
  problem,
  PRODUCTION as SUBJECT,
  skipped,
  warning,
} from "./finding.ts";

const MIB = 1024 * 1024;

/** The largest usual body in bytes of a route that receives no files; JSON is read as a whole. */
const USUAL_BODY = 16 * MIB;

/** Checks the application for safe defaults that are off. */
export async function checkSafeguards(
  project: Project,
  options: ApplicationOptions,
): Promise<readonly Finding[]> {
  try {
    const safeguards = await safeguardsOf(project, options);
    return [
      ...checkAccess(safeguards),
      ...checkRoutes(safeguards),
      ...checkRateLimits(safeguards),
      ...checkBodies(safeguards),
    ];
  } catch (error) {
    return [skipped(SUBJECT, lineOf(error))];
  }
}

/** Checks who can call the routes and read the endpoints, and what errors reveal to them. */
function checkAccess(safeguards: ListedSafeguards): readonly Finding[] {
  const { authenticates, requiresIdentity, concealsErrors, openEndpoints } = safeguards;
  const findings: Finding[] = [];
  if (!concealsErrors) {
    findings.push(
      problem(SUBJECT, "5xx responses reveal exceptions: call enableProductionErrorsFromEnv()"),
    );
  }
  if (authenticates && !requiresIdentity) {
    findings.push(
      warning(
        SUBJECT,
        "routes that declare nothing are open: pass { require: true } to useAuthn() or useOAuth2()",
      ),
    );
  }
  if (openEndpoints.length > 0) {
    const names = openEndpoints.join(", ");
    findings.push(
      warning(
        SUBJECT,
        `everybody can read ${names}: protect them in the proxy, or by app.use(path)`,
      ),
    );
  }
  return findings;
}

/** Checks what middleware adds to each route. */
function checkRoutes({ bodyLimit, routes }: ListedSafeguards): readonly Finding[] {
  const unseen = routes.filter(({ observed }) => !observed);
  const bare = routes.filter(({ observed }) => observed?.missingHeaders.length);
  const headers = new Set(bare.flatMap(({ observed }) => observed?.missingHeaders ?? []));
  // a limit over the default is for files, which take longer
  const endless = routes.filter(({ observed, bodyLimit: own = 0 }) =>
    observed?.hasTimeLimit === false && own <= bodyLimit
  );
  const shared = routes.filter(({ observed }) => observed?.allowsAnyOrigin);
  const findings: Finding[] = [];
  if (shared.length > 0) {
    const names = listRoutes(shared);
    findings.push(
      warning(SUBJECT, `sites of any origin read ${names} with cookies: list them in cors()`),
    );
  }
  if (bare.length > 0) {
    const names = [...headers].join(", ");
    findings.push(
      warning(SUBJECT, `no ${names} for ${listRoutes(bare)}: call app.use(secureHeaders())`),
    );
  }
  if (endless.length > 0) {
    findings.push(
      warning(SUBJECT, `no time limit for ${listRoutes(endless)}: call app.use(timeout(30_000))`),
    );
  }
  if (unseen.length > 0) {
    const names = listRoutes(unseen);
    findings.push(skipped(SUBJECT, `middleware refuses ${names} without credentials`));
  }
  return findings;
}

function checkRateLimits(safeguards: ListedSafeguards): readonly Finding[] {
  const { rateLimits, routes, trustedHops } = safeguards;
  const unlimited = routes.filter(({ observed }) => observed?.hasRateLimit === false);
  if (rateLimits.length === 0 && unlimited.length > 0) {
    return [warning(SUBJECT, `no rate limit for ${listRoutes(unlimited)}: call useRateLimit()`)];
  }
  const byAddress = rateLimits.filter(({ isByAddress }) => isByAddress).map(({ name }) => name);
  if (byAddress.length === 0 || trustedHops > 0) return [];
  return [
    warning(
      SUBJECT,
      `all clients behind a proxy share the rate limit ${listSome(byAddress)}: ` +
        "set TRUSTED_PROXY_HOPS for useTrustedProxy()",
    ),
  ];
}

function checkBodies({ bodyLimit, routes }: ListedSafeguards): readonly Finding[] {
  const large = routes.filter(({ bodyLimit: own = 0, isUpload }) => own > USUAL_BODY && !isUpload);
  const findings: Finding[] = [];
  if (bodyLimit > USUAL_BODY) {
    const size = `${Math.round(bodyLimit / MIB)} MiB`;
    findings.push(
      warning(SUBJECT, `bodies of all routes can have ${size}: lower useBodyLimit() to 16 MiB`),
    );
  }
  if (large.length > 0) {
    const names = listRoutes(large);
    findings.push(
      warning(SUBJECT, `bodies over 16 MiB are read as a whole by ${names}: lower its bodyLimit`),
    );
  }
  return findings;
}

function listRoutes(routes: ListedSafeguards["routes"]): string {
  return listSome(routes.map(({ method, path }) => `${method} ${path}`));
}
