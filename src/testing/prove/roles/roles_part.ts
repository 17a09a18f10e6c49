/**
 * The part `roles`: every route with every caller, against what the route declares.
 *
 * @module
 */
import { TrieRouter } from "hono/router/trie-router";
import { needsIdentity } from "../../../core/route/route_protection.ts";
import { withTimeLimit } from "../../../platform/time_limit.ts";
import {
  ANONYMOUS,
  type Failure,
  type Part,
  type PartResult,
  type ProveContext,
  type Send,
  type SignedCaller,
} from "../part.ts";
import { changedLines, type Lines, writeLines } from "../recorded.ts";
import { type CalledRoute, calledRoute } from "../request/called_route.ts";
import { curl } from "../request/exchange_lines.ts";
import { requestBy, sendRequest, type SentRequest } from "../request/sent_request.ts";
import { withDocument } from "../request/with_document.ts";
import { spellingsOf } from "./spellings.ts";

/** Statuses of requests that no route has answered. */
const ELSEWHERE = [301, 302, 307, 308, 404, 405];

/** Calls every route as every caller, and checks who is let in. */
export const rolesPart: Part = { name: "roles", run };

function run(context: ProveContext): Promise<PartResult> {
  return withDocument(context, async (started, document) => {
    const { timeoutMs, options: { undocumented } } = context;
    const routes = started.app.routes()
      .map((route) => calledRoute(route, { document, undocumented }));
    const { expired, send } = started;
    const callers = [ANONYMOUS, ...expired ? [expired] : [], ...started.callers];
    const entries: MatrixEntry[] = [];
    const failures: Failure[] = [];
    const hasOptions = matcherOfOptions(routes);
    for (const route of routes) {
      const calls = new RouteCalls(route, { send, callers, timeoutMs, hasOptions });
      entries.push(...await calls.run());
      failures.push(...calls.failures);
    }
    const matrix = matrixOf(entries);
    const changes = changedLines(matrix, context.recorded).map(({ key, was, is }): Failure => {
      const [subject = "", caller] = key.split("  ");
      const change = was === undefined
        ? `${is}, which prove.json does not have`
        : is === undefined
        ? "no such route or caller, which prove.json has"
        : `${is}, and prove.json has ${was}`;
      return { subject, message: `${caller}: ${change}; --update accepts it` };
    });
    return {
      checked: `${routes.length} routes x ${callers.length} callers`,
      outcome: "as declared",
      failures: [...failures, ...changes],
      record: writeLines(matrix),
    };
  });
}

/** Returns a function that checks whether a route of its own handles `OPTIONS` of a path. */
function matcherOfOptions(routes: readonly CalledRoute[]): (path: string) => boolean {
  const router = new TrieRouter<true>();
  for (const { method, path } of routes) {
    if (method === "OPTIONS" || method === "ALL") router.add("ALL", path, true);
  }
  return (path) => router.match("ALL", path.split("?", 1)[0] ?? "")[0].length > 0;
}

/** Whether a caller is let in, or the status by which it is refused. */
type Decision = "allowed" | "401" | "403";

interface MatrixEntry {
  readonly route: CalledRoute;
  readonly caller: string;
  readonly decision: Decision;
}

/** Sorts by path, so that the routes of a resource are together, then by method and caller. */
function matrixOf(entries: readonly MatrixEntry[]): Lines {
  const rows = entries.map(({ route: { method, path, versions }, caller, decision }) => {
    const others = versions.filter((version) => !path.split("/").includes(version));
    const key = `${[method, path, ...others].join(" ")}  ${caller}`;
    return { key, decision, order: [path, method, ...others, caller].join("\0") };
  });
  const sorted = rows.toSorted((a, b) => a.order < b.order ? -1 : a.order > b.order ? 1 : 0);
  return new Map(sorted.map(({ key, decision }) => [key, decision]));
}

/** The calls of one route. */
class RouteCalls {
  readonly failures: Failure[] = [];
  readonly #route: CalledRoute;
  readonly #send: Send;
  readonly #callers: readonly SignedCaller[];
  readonly #timeoutMs: number;
  readonly #hasOptions: (path: string) => boolean;
  #hasFailed = false;

  constructor(
    route: CalledRoute,
    { send, callers, timeoutMs, hasOptions }: {
      readonly send: Send;
      readonly callers: readonly SignedCaller[];
      readonly timeoutMs: number;
      readonly hasOptions: (path: string) => boolean;
    },
  ) {
    this.#route = route;
    this.#send = send;
    this.#callers = callers;
    this.#timeoutMs = timeoutMs;
    this.#hasOptions = hasOptions;
  }

  /** Calls the route as each caller, and in its other spellings. */
  async run(): Promise<readonly MatrixEntry[]> {
    const route = this.#route;
    const entries: MatrixEntry[] = [];
    for (const caller of this.#callers) {
      const status = await this.#call(route.request, caller);
      if (status === undefined) break;
      const decision = decisionOf(status);
      this.#checkDeclared(caller, status);
      for (const { name, request } of spellingsOf(route)) {
        const other = await this.#call(request, caller);
        if (other === undefined || ELSEWHERE.includes(other) || decisionOf(other) === decision) {
          continue;
        }
        const message =
          `${name} answers ${other} to ${caller.name}, and ${route.request.method} ${status}`;
        this.#fail(message, { request, caller });
      }
      entries.push({ route, caller: caller.name, decision });
    }
    if (this.#hasFailed) return entries;
    this.#checkAllowed(entries);
    await this.#checkOptions();
    return entries;
  }

  /** Returns the status of an answer; `undefined` if the route fails, which is reported once. */
  async #call(request: SentRequest, caller: SignedCaller): Promise<number | undefined> {
    const answer = await this.#exchange({ request, caller }, async ({ body }) => {
      await body?.cancel();
    });
    return answer?.status;
  }

  /** Returns what an answer has; `undefined` if the route fails, which is reported once. */
  async #exchange<T>(
    { request, caller }: { readonly request: SentRequest; readonly caller: SignedCaller },
    read: (response: Response) => Promise<T>,
  ): Promise<{ readonly status: number; readonly content: T } | undefined> {
    const answer = async () => {
      const response = await sendRequest(this.#send, requestBy(caller, request));
      return { status: response.status, content: await read(response) };
    };
    let fault: string;
    try {
      const received = await withTimeLimit(answer(), this.#timeoutMs);
      if (received.status < 500) return received;
      fault = `it fails with ${received.status}`;
    } catch (error) {
      fault = error instanceof DOMException && error.name === "TimeoutError"
        ? `no answer in ${this.#timeoutMs} ms`
        : `it throws ${error}`;
    }
    if (!this.#hasFailed) this.#fail(`${fault} for ${caller.name}`, { request, caller });
    this.#hasFailed = true;
    return undefined;
  }

  /** Checks the answer against the protection that the route and its operation declare. */
  #checkDeclared(caller: SignedCaller, status: number): void {
    const route = this.#route;
    const { protection, operation } = route;
    const needed = reasonOfIdentity(route);
    const { name, isKnown } = caller;
    const expect = (isSo: boolean, why: string) => {
      if (!isSo) this.#fail(why, { request: route.request, caller });
    };
    if (needed && !isKnown) {
      expect(status === 401, `${needed}, and ${name} gets ${status} instead of 401`);
    } else if (needed) {
      expect(status !== 401, `${needed}, and ${name}, who has one, gets 401`);
    }
    if (needed && isKnown && !hasPermission(route, caller)) {
      const permissions = permissionsOf(route);
      expect(status === 403, `it needs ${permissions}, and ${name} gets ${status} instead of 403`);
    }
    if (protection === "public" && !operation?.responses.has(status)) {
      expect(![401, 403].includes(status), `it is public, and ${name} gets ${status}`);
    }
  }

  /** Checks that those are let in that the route declares, if any such caller is declared. */
  #checkAllowed(entries: readonly MatrixEntry[]): void {
    const route = this.#route;
    if (route.roles.length + route.scopes.length === 0) return;
    const entitled = this.#callers.filter((each) => each.isKnown && hasPermission(route, each));
    const [first] = entitled;
    if (!first) return;
    const names = entitled.map(({ name }) => name);
    const isRefused = entries.filter(({ caller }) => names.includes(caller))
      .every(({ decision }) => decision === "403");
    if (!isRefused) return;
    const message = `it needs ${permissionsOf(route)}, and refuses ${names.join(", ")} with 403`;
    this.#fail(message, { request: route.request, caller: first });
  }

  /** Checks that `OPTIONS`, which needs no caller, lists methods and answers nothing else. */
  async #checkOptions(): Promise<void> {
    const { path } = this.#route.request;
    if (this.#hasOptions(path)) return;
    const request = { method: "OPTIONS", path, headers: {} };
    const answer = await this.#exchange({ request, caller: ANONYMOUS }, hasBody);
    if (!answer?.content || answer.status >= 300) return;
    const message = `OPTIONS answers ${answer.status} with a body to anonymous`;
    this.#fail(message, { request, caller: ANONYMOUS });
  }

  #fail(
    message: string,
    { request, caller }: { readonly request: SentRequest; readonly caller: SignedCaller },
  ): void {
    const { method, path } = this.#route;
    const details = [curl(requestBy(caller, request), caller)];
    this.failures.push({ subject: `${method} ${path}`, message, details });
  }
}

/** Checks whether an answer has a body; reads no more of it than its beginning. */
async function hasBody({ body }: Response): Promise<boolean> {
  if (!body) return false;
  const reader = body.getReader();
  let part = await reader.read();
  while (part.value?.length === 0) part = await reader.read();
  await reader.cancel();
  return !part.done;
}

/** Returns why a caller needs a token; `undefined` if none is needed. */
function reasonOfIdentity({ protection, operation }: CalledRoute): string | undefined {
  if (needsIdentity(protection)) return "it needs a token";
  return operation?.needsIdentity ? "its operation is documented to need a token" : undefined;
}

function hasPermission(
  { roles, scopes }: Pick<CalledRoute, "roles" | "scopes">,
  caller: SignedCaller,
): boolean {
  const hasRole = roles.length === 0 || roles.some((role) => caller.roles.includes(role));
  return hasRole && scopes.every((scope) => caller.scopes.includes(scope));
}

function permissionsOf({ roles, scopes }: Pick<CalledRoute, "roles" | "scopes">): string {
  return [
    ...roles.length > 0 ? [`one of the roles ${roles.join(", ")}`] : [],
    ...scopes.length > 0 ? [`the scopes ${scopes.join(" ")}`] : [],
  ].join(" and ");
}

function decisionOf(status: number): Decision {
  return status === 401 ? "401" : status === 403 ? "403" : "allowed";
}
