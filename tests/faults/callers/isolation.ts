/** Requests of many identities at once: each answer has exactly the data of its caller. */
import { DbOptions } from "../../../src/db/mod.ts";
import { DevelopmentIdentityProvider } from "../../../src/testing/mod.ts";
import { createDatabase } from "../../db/support/servers.ts";
import { Random } from "../random.ts";
import type { Given, Outcome } from "../scenario.ts";
import { CALLERS_APPLICATION, startInstance } from "../server/instance.ts";
import { NotesDb } from "../server/notes.ts";
import { type WireAnswer, WireClient } from "../wire_client.ts";

const TENANTS = 50;
const CONNECTIONS = 32;

interface Identity {
  readonly subject: string;
  readonly tenant: string;
  readonly token: string;
}

interface Note {
  readonly tenant_id: string;
  readonly subject: string;
  readonly text: string;
}

/** What became of notes: the subjects by the texts of those that were acknowledged. */
interface Ledger {
  readonly written: Map<string, string>;
  readonly failures: Set<string>;
  counts: { requests: number; asExpected: number; abandoned: number };
}

/** Sends requests of all identities, interleaved, and compares the database at the end. */
export async function isolation({ runtime, isQuick, seed }: Given): Promise<Outcome> {
  await using provider = await DevelopmentIdentityProvider.start({ audience: "shop" });
  await using database = await createDatabase("postgres");
  await using instance = await startInstance(runtime, {
    file: CALLERS_APPLICATION,
    env: { DATABASE_URL: database.url, ISSUER: provider.issuer },
    maxRunMs: 3_600_000,
  });
  const identities = await Promise.all(
    Array.from({ length: isQuick ? 100 : 1_000 }, (_, user) => identityOf(provider, user)),
  );
  const ledger: Ledger = {
    written: new Map(),
    failures: new Set(),
    counts: { requests: 0, asExpected: 0, abandoned: 0 },
  };
  const total = isQuick ? 1_500 : 100_000;
  await Promise.all(Array.from({ length: CONNECTIONS }, async (_, client) => {
    const random = new Random(seed + client);
    using wire = new WireClient(instance.origin);
    while (ledger.counts.requests < total) {
      ledger.counts.requests += 1;
      await ask(wire, { random, ledger, identity: random.pick(identities) });
    }
  }));
  const { requests, asExpected, abandoned } = ledger.counts;
  const { lost, failures } = await compare(database.url, ledger);
  return {
    injected: abandoned,
    requests,
    asExpected: asExpected + abandoned,
    lost,
    note: `${identities.length} identities`,
    failures: [...[...ledger.failures].slice(0, 10), ...failures, ...instance.unexpectedOutput()],
  };
}

async function identityOf(provider: DevelopmentIdentityProvider, user: number): Promise<Identity> {
  const [subject, tenant] = [`user ${user}`, `tenant ${user % TENANTS}`];
  const claims = { tenant_id: tenant };
  const token = await provider.issueToken({ subject, claims, expiresInSeconds: 24 * 3600 });
  return { subject, tenant, token };
}

async function ask(
  wire: WireClient,
  { random, ledger, identity }: {
    readonly random: Random;
    readonly ledger: Ledger;
    readonly identity: Identity;
  },
): Promise<void> {
  const [id, mark, chance] = [crypto.randomUUID(), crypto.randomUUID(), random.next()];
  const lines = [
    `Authorization: Bearer ${identity.token}`,
    `X-Request-Id: ${id}`,
    `X-Mark: ${mark}`,
  ];
  if (chance < 0.03) {
    ledger.counts.abandoned += 1;
    return await wire.abandon({ target: "/notes/who", lines }, random.below(10));
  }
  const fails = random.next() < 0.3;
  const text = `${fails ? "fails" : "stays"} ${id}`;
  const isWrite = chance < 0.4;
  const answer = await wire.send(
    isWrite
      ? {
        method: "POST",
        target: "/notes",
        lines: [...lines, "Content-Type: application/json"],
        body: JSON.stringify({ text, fails }),
      }
      : { target: chance < 0.7 ? "/notes" : "/notes/who", lines },
  );
  const wrong = answer.headers.get("x-request-id") !== id
    ? "another request id"
    : isWrite && fails
    ? wrongRefusal(answer, `${identity.subject} ${text}`)
    : wrongAnswer(answer, { identity, id, mark, text: isWrite ? text : undefined });
  if (wrong === undefined) {
    ledger.counts.asExpected += 1;
    if (isWrite && !fails) ledger.written.set(text, identity.subject);
  } else {
    ledger.failures.add(`${identity.subject} of ${identity.tenant} got ${wrong}`);
  }
}

function wrongRefusal({ status, body }: WireAnswer, detail: string): string | undefined {
  if (status !== 409) return `${status} ${body.slice(0, 200)}`;
  return JSON.parse(body).detail === detail ? undefined : `the refusal of another: ${body}`;
}

function wrongAnswer(
  { status, body, error }: WireAnswer,
  { identity, id, mark, text }: {
    readonly identity: Identity;
    readonly id: string;
    readonly mark: string;
    readonly text: string | undefined;
  },
): string | undefined {
  if (status < 200 || status > 201) return `${status} ${error ?? body.slice(0, 200)}`;
  const { rows = [], count = 1, ...own } = JSON.parse(body);
  const { subject, tenant } = identity;
  const expected = { ...text !== undefined && { text }, subject, tenant, requestId: id, mark };
  if (JSON.stringify(own) !== JSON.stringify(expected)) return `the answer of another: ${body}`;
  if (count !== 1) return `${count} notes in its transaction`;
  const foreign = (rows as Note[]).find((row) =>
    row.tenant_id !== tenant || row.text.startsWith("fails")
  );
  return foreign && `a row of another tenant or transaction: ${JSON.stringify(foreign)}`;
}

/** Compares what the database has with what was acknowledged. */
async function compare(
  url: string,
  { written }: Ledger,
): Promise<{ readonly lost: number; readonly failures: readonly string[] }> {
  const db = await NotesDb.open(DbOptions.fromUrl(url).poolMax(1));
  try {
    const notes = await db.note.findMany({});
    const audits = await db.audit.findMany({});
    const audited = new Map(audits.map(({ text, subject }) => [text, subject]));
    const lost = [...written].filter(([text, subject]) =>
      notes.filter((note) =>
        note.text === text && note.subject === subject
      ).length !== 1
    ).length;
    const failures = [
      ...lost > 0 ? [`${lost} acknowledged notes are not there exactly once`] : [],
      ...notes.filter(({ text }) => text.startsWith("fails")).length > 0
        ? ["a transaction that failed left a note"]
        : [],
      ...notes.length !== audits.length ||
          notes.some(({ text, subject }) => audited.get(text) !== subject)
        ? ["notes and audits differ"]
        : [],
    ];
    return { lost, failures };
  } finally {
    await db.close();
  }
}
