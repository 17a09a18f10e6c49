/**
 * The OpenTelemetry spans of statements.
 *
 * @module
 */
import type { Driver } from "kysely";
import { TELEMETRY_REGISTRY } from "../../platform/telemetry/registry.ts";
import type { Registered, SpanOptions } from "./sql_span.ts";

/** Starts a span for each statement, while the application has registered a tracer provider. */
export class StatementSpans {
  readonly #options: SpanOptions;
  #lazy: typeof import("./sql_span.ts") | undefined;

  /** Creates the spans of a database. */
  constructor(options: SpanOptions) {
    this.#options = options;
  }

  /** Whether the application has registered a tracer provider. */
  get isOn(): boolean {
    return registered()?.trace !== undefined;
  }

  /** Runs a statement in its span, if there is a tracer provider. */
  during<T>(sql: string, run: () => T | Promise<T>): Promise<T> {
    return this.within((start) => {
      start(sql);
      return run();
    });
  }

  /** Runs what starts its span by itself, when it knows its statement. */
  async within<T>(run: (start: (sql: string) => void) => T | Promise<T>): Promise<T> {
    if (!this.isOn) return await run(() => {});
    this.#lazy ??= await import("./sql_span.ts");
    return await this.#lazy.runTraced(run, { ...registered(), ...this.#options });
  }

  /** Adds spans to the beginning and the end of a driver's transactions. */
  ofTransactions(driver: Driver): Driver {
    return new Proxy(driver, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const [, sql] = /^(begin|commit|rollback)Transaction$/.exec(String(name)) ?? [];
        if (sql === undefined) return value.bind(target);
        return (...args: unknown[]) => this.during(sql, () => value.apply(target, args));
      },
    });
  }

  /** Reads the chunks of a stream; its span lasts until its end. */
  async *whileRead<T>(sql: string, chunks: AsyncIterable<T>): AsyncIterableIterator<T> {
    if (!this.isOn) return yield* chunks;
    this.#lazy ??= await import("./sql_span.ts");
    yield* this.#lazy.readTraced(chunks, sql, { ...registered(), ...this.#options });
  }
}

function registered(): Registered | undefined {
  return (globalThis as { readonly [TELEMETRY_REGISTRY]?: Registered })[TELEMETRY_REGISTRY];
}
