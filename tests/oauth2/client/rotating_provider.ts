/** A provider that returns a new refresh token each time, and revokes all when it receives one twice. */
import { type Answering, type Reply, type TokenServer, tokenServer } from "./token_server.ts";

export interface RotatingProvider extends TokenServer {
  /** What it was sent to refresh, in order. */
  readonly refreshed: readonly string[];
  /** What it was sent to revoke, in order. */
  readonly revoked: readonly string[];
  readonly isCompromised: boolean;
  /** Delays all answers until the returned function is called. */
  hold(): () => void;
}

/** Begins with the refresh token `rt-1`. `replies` are given in place of the first answers. */
export async function rotatingProvider(replies: Reply[] = []): Promise<RotatingProvider> {
  const refreshed: string[] = [];
  const revoked: string[] = [];
  let generation = 1;
  let isRevoked = false;
  let isCompromised = false;
  let held = Promise.resolve();

  const answering: Answering = async ({ path, form }) => {
    if (path === "/revoke") revoked.push(form.get("token") ?? "");
    else refreshed.push(form.get("refresh_token") ?? "");
    const reply = replies.shift() ?? (path === "/revoke" ? revoke(form) : refresh(form));
    await held;
    return reply;
  };

  function revoke(form: URLSearchParams): Reply {
    if (form.get("token") === `rt-${generation}`) isRevoked = true;
    return {};
  }

  function refresh(form: URLSearchParams): Reply {
    const isCurrent = form.get("refresh_token") === `rt-${generation}`;
    if (!isCurrent) isCompromised = true;
    if (isRevoked || isCompromised) return { status: 400, body: { error: "invalid_grant" } };
    generation++;
    return {
      body: {
        access_token: `at-${generation}`,
        token_type: "Bearer",
        refresh_token: `rt-${generation}`,
      },
    };
  }

  const server = await tokenServer(answering);
  return {
    ...server,
    refreshed,
    revoked,
    get isCompromised() {
      return isCompromised;
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
  };
}

/** Waits for a condition, at most a minute. */
export async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 12_000 && !holds(); i++) await new Promise((next) => setTimeout(next, 5));
  if (!holds()) throw new Error("Cannot wait: the condition is not met");
}
