/** The authorisation matrix: every route, caller, spelling and method, compared whole. */
import type { RouteInfo } from "../../../mod.ts";
import { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import type { Given, Outcome } from "../scenario.ts";
import { CALLERS_APPLICATION, startInstance } from "../server/instance.ts";
import { REACHED } from "../server/reached.ts";
import { WireClient } from "../wire_client.ts";
import { type Caller, expectedOf } from "./expected.ts";
import { type Spelling, SPELLINGS } from "./spellings.ts";

const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
/** In the quick part, one combination of so many. */
const SHARE = 13;
const CONNECTIONS = 8;

interface Cell {
  readonly caller: Caller;
  readonly method: string;
  readonly target: string;
  readonly meant: string;
  readonly spelling: Spelling;
}

/** Sends the whole matrix and compares each answer. */
export async function matrix({ runtime, isQuick, seed }: Given): Promise<Outcome> {
  await using provider = await DevelopmentIdentityProvider.start({ audience: "shop" });
  await using instance = await startInstance(runtime, {
    file: CALLERS_APPLICATION,
    env: { ISSUER: provider.issuer },
    maxRunMs: 900_000,
  });
  const [, text = "[]"] = /ROUTES (.*)/.exec(await instance.process.until(/ROUTES .*/)) ?? [];
  const routes = (JSON.parse(text) as readonly RouteInfo[])
    .filter(({ handler }) => handler.startsWith("ProtectedModule"));
  const cells = cellsOf(routes, await callersOf(provider))
    .filter((_, at) => !isQuick || at % SHARE === seed % SHARE);
  const differences = new Map<string, string>();
  let asExpected = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async (_, client) => {
    using wire = new WireClient(instance.origin);
    for (let at = client; at < cells.length; at += CONNECTIONS) {
      const found = await differenceOf(wire, { routes, cell: cells[at] as Cell });
      if (found === undefined) asExpected += 1;
      else differences.set(found.kind, found.example);
    }
  }));
  return {
    injected: cells.length,
    requests: cells.length,
    asExpected,
    note: `${routes.length} routes`,
    failures: [...[...differences.values()].slice(0, 20), ...instance.unexpectedOutput()],
  };
}

function cellsOf(routes: readonly RouteInfo[], callers: readonly Caller[]): readonly Cell[] {
  const paths = new Set(routes.map(({ path }) => writtenOf(path)));
  return [...paths].flatMap((path) =>
    SPELLINGS.flatMap((spelling) =>
      callers.flatMap((caller) =>
        METHODS.map((method): Cell => ({
          caller,
          method,
          target: spelling.spell(path),
          meant: spelling.means?.(path) ?? path,
          spelling,
        }))
      )
    )
  );
}

async function differenceOf(
  wire: WireClient,
  { routes, cell }: { readonly routes: readonly RouteInfo[]; readonly cell: Cell },
): Promise<{ readonly kind: string; readonly example: string } | undefined> {
  const { caller, method, target, meant, spelling } = cell;
  const lines = caller.token === undefined ? [] : [`Authorization: Bearer ${caller.token}`];
  const { status, headers, error = "" } = await wire.send({ method, target, lines });
  const expected = expectedOf(routes, { caller, method, path: meant });
  const reached = headers.get(REACHED);
  if (status === expected.status && reached === expected.reached) return undefined;
  if (spelling.isOdd && (status === 400 || status === 404) && reached === undefined) return;
  return {
    kind: `${method} ${spelling.name} ${status} ${expected.status}`,
    example: `${method} ${target} (${spelling.name}) by ${caller.name}: ${status} ` +
      `${reached ?? error}, expected ${expected.status} ${expected.reached ?? ""}`,
  };
}

async function callersOf(provider: DevelopmentIdentityProvider): Promise<readonly Caller[]> {
  const token = (
    { roles = [], scopes = [], tenant = "t1" }: Partial<Caller>,
    expiresInSeconds = 7200,
  ) =>
    provider.issueToken({
      subject: "somebody",
      roles,
      scope: scopes.join(" "),
      claims: { tenant_id: tenant },
      expiresInSeconds,
    });
  const known = async (name: string, given: Partial<Caller>): Promise<Caller> => ({
    name,
    isKnown: true,
    tenant: "t1",
    ...given,
    token: await token(given),
  });
  const powers = { roles: ["admin", "clerk"], scopes: ["orders:read", "orders:write"] };
  const [header = "", claims = "", signature = ""] = (await token(powers)).split(".");
  const other = claims.replace(/^.{8}/, (start) => start.split("").reverse().join(""));
  return [
    { name: "nobody", isKnown: false },
    { name: "an expired token", isKnown: false, token: await token(powers, -120) },
    {
      name: "a forged signature",
      isKnown: false,
      token: `${header}.${claims}.${signature.split("").reverse().join("")}`,
    },
    { name: "changed claims", isKnown: false, token: `${header}.${other}.${signature}` },
    await known("no role", {}),
    await known("a role", { roles: ["admin"] }),
    await known("another role", { roles: ["clerk"] }),
    await known("one scope", { scopes: ["orders:read"] }),
    await known("both scopes", { scopes: ["orders:read", "orders:write"] }),
    await known("the word admin as a scope", { scopes: ["admin", "tenant"] }),
    await known("every power in another tenant", { ...powers, tenant: "t2" }),
  ];
}

/** Writes a path with values in place of its parameters. */
function writtenOf(pattern: string): string {
  return pattern.replace(":tenant", "t1").replace(/:\w+/g, "7").replace(/\*$/, "a/b");
}
