/**
 * Two applications with the same rows, but for those of one tenant: an answer to another tenant
 * must be the same in both.
 *
 * @module
 */
import { Repository } from "../../../db/repository.ts";
import { requestBy, sendRequest, type SentRequest } from "../request/sent_request.ts";
import type { CalledRoute } from "../request/called_route.ts";
import type { ProveContext, StartedApplication } from "../part.ts";
import { type Answer, answerOf } from "./answers.ts";
import type { SeedRow } from "./seed_rows.ts";
import { changesOf, readRows, type StoredRows } from "./stored_rows.ts";
import { type Tables, tablesOf, type TenantPair } from "./tenant_pairs.ts";

/** A request. */
export interface Step {
  readonly route: CalledRoute;
  readonly by: "owner" | "stranger";
  /** The request, without the headers of the caller. */
  readonly request: SentRequest;
  /** The unique columns whose values of the owner it has: `users.email`. */
  readonly unique?: readonly string[];
}

/** The answers to a request, and what it has done. */
export interface Outcome {
  /** The answer beside rows of the owner; `undefined` if it did not come. */
  readonly beside: Answer | undefined;
  /** The answer without these rows. */
  readonly without: Answer | undefined;
  /** What was done to rows of the owner, in words. */
  readonly changes: readonly string[];
}

/** What applications are started with. */
export interface Settings {
  readonly context: ProveContext;
  readonly pair: TenantPair;
  readonly seeds: readonly SeedRow[];
}

/** An application with rows. */
export class World implements AsyncDisposable {
  /** Rows that the database, or a hook of their model, has refused. */
  readonly refused: readonly SeedRow[];
  readonly #started: StartedApplication;
  readonly #tables: Tables;
  readonly #settings: Settings;
  #rows: StoredRows | undefined;

  private constructor(
    started: StartedApplication,
    { settings, refused }: { readonly settings: Settings; readonly refused: readonly SeedRow[] },
  ) {
    this.#started = started;
    this.#settings = settings;
    this.#tables = tablesOf(started);
    this.refused = refused;
  }

  /** Starts an application, and creates its rows: with or without those of the owner. */
  static async start(
    settings: Settings,
    { hasOwner }: { readonly hasOwner: boolean },
  ): Promise<World> {
    const started = await settings.context.start();
    try {
      const refused: SeedRow[] = [];
      const tables = tablesOf(started);
      for (const row of settings.seeds) {
        if (row.side === "owner" && !hasOwner) continue;
        const table = tables.get(row.table)!; // the seeds are of these tables
        await new Repository(table).create({ data: row.values } as never).catch(() => {
          refused.push(row);
        });
      }
      return new World(started, { settings, refused });
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Sends a request. */
  send({ by, request }: Step): Promise<Answer | undefined> {
    const { context, pair } = this.#settings;
    const caller = this.#started.callers.find(({ name }) => name === pair[by].name);
    this.#rows = by === "owner" ? undefined : this.#rows;
    const response = sendRequest(this.#started.send, requestBy(caller, request));
    return answerOf(response, context.timeoutMs);
  }

  /** Sends a request, and returns what it has done to rows of the owner, in words. */
  async sendAndCompare(
    step: Step,
  ): Promise<{ readonly answer: Answer | undefined; readonly changes: readonly string[] }> {
    const tables = this.#tables;
    const before = this.#rows ?? await readRows(tables);
    const answer = await this.send(step);
    const after = await readRows(tables);
    this.#rows = after;
    return { answer, changes: changesOf({ before, after, tables, pair: this.#settings.pair }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#started[Symbol.asyncDispose]();
  }
}

/** An application beside rows of the owner, and one without them. */
export class Worlds implements AsyncDisposable {
  readonly #beside: World;
  readonly #without: World;

  private constructor(beside: World, without: World) {
    this.#beside = beside;
    this.#without = without;
  }

  /** Starts both. */
  static async start(settings: Settings): Promise<Worlds> {
    const beside = await World.start(settings, { hasOwner: true });
    try {
      return new Worlds(beside, await World.start(settings, { hasOwner: false }));
    } catch (error) {
      await beside[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Sends a request in both. */
  async send(step: Step): Promise<Outcome> {
    if (step.by === "owner") {
      const beside = await this.#beside.send(step);
      return { beside, without: await this.#without.send(step), changes: [] };
    }
    const { answer, changes } = await this.#beside.sendAndCompare(step);
    return { beside: answer, without: await this.#without.send(step), changes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#beside[Symbol.asyncDispose]();
    await this.#without[Symbol.asyncDispose]();
  }
}
