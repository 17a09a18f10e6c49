/** A provider that gives a new refresh token each time, and revokes all once it sees one twice. */
import { type Answering, type Reply, type TokenServer, tokenServer } from "./token_server.ts";

export interface RotatingProvider extends TokenServer {
  /** What it was sent to refresh, in order. */
  readonly refreshed: readonly string[];
  /** What it was sent to revoke, in order. */
  readonly revoked: readonly string[];
  readonly isCompromised: boolean;
  /** Holds back every answer from now on, until the function that it gives is called. */
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

/** Waits until something holds, for five seconds at most. */
export async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 1_000 && !holds(); i++) await new Promise((next) => setTimeout(next, 5));
  if (!holds()) throw new Error("It never held");
}
