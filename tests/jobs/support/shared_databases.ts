/** Databases that the tests of a file share, as it takes longer to create one than to test on it. */
import { type Brand, testOnEach } from "../../db/support/database.ts";
import { createDatabase, SERVERS } from "../../db/support/servers.ts";
import { afterFile, test } from "../../support/test.ts";

/** A test, and how its database is prepared. */
export interface SharedTest {
  readonly run: (url: string, brand: Brand) => Promise<void>;
  /** Creates the tables of a database of a server, and empties them. */
  readonly empty: (url: string) => Promise<void>;
  /** The databases; all by default. */
  readonly brands?: readonly Brand[];
  /** Why it cannot run here; `undefined` if it can. */
  readonly skip?: string | undefined;
  /** The databases on which it is slow. */
  readonly slow?: readonly Brand[] | undefined;
}

const shared = new Map<Brand, ReturnType<typeof createDatabase>>();

/** Runs a test on each database, whose tables are empty. */
export function testOnShared(
  name: string,
  { run, empty, brands = ["sqlite", "postgres", "mysql"], skip, slow = [] }: SharedTest,
): void {
  for (const brand of brands) {
    if (brand === "sqlite") {
      testOnEach(name, ({ url }) => run(url, brand), { brands: [brand], slow });
      continue;
    }
    afterFile(() => dropShared(brand));
    test(`${name} (${brand})`, async () => {
      const created = shared.get(brand) ?? createDatabase(brand);
      shared.set(brand, created);
      const { url } = await created;
      await empty(url);
      await run(url, brand);
    }, { skip: SERVERS[brand].skip ?? skip, slow: slow.includes(brand) });
  }
}

async function dropShared(brand: Brand): Promise<void> {
  const created = shared.get(brand);
  shared.delete(brand);
  await (await created)?.[Symbol.asyncDispose]();
}
