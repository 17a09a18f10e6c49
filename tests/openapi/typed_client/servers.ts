/** The users example in a separate process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Subprocess } from "../../support/subprocess.ts";

type Environment = Readonly<Record<string, string>>;

/** Runs a server while something is done at its URL. */
export type Serve = <T>(body: (url: string) => Promise<T>) => Promise<T>;

/** The example as the documentation runs it, on a free port with a new database. */
export function usersExample(env: Environment = {}): Serve {
  return async (body) => {
    const folder = mkdtempSync(join(tmpdir(), "fw-typed-users-"));
    const DATABASE_URL = `sqlite:${join(folder, "users.sqlite")}`;
    try {
      return await served(
        { file: "examples/users.ts", env: { PORT: "0", HOST: "127.0.0.1", DATABASE_URL, ...env } },
        body,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

/** The example, but for a limit of one request. */
export function limitedExample(): Serve {
  return (body) => served({ file: "tests/openapi/typed_client/limited_users.ts" }, body);
}

async function served<T>(
  { file, env = {} }: { readonly file: string; readonly env?: Environment },
  body: (url: string) => Promise<T>,
): Promise<T> {
  await using server = new Subprocess(file, { env });
  return await body(await server.until(/http:\/\/127\.0\.0\.1:\d+/));
}
