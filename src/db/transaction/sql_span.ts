/**
 * Starts the OpenTelemetry spans of statements.
 *
 * @module
 */
import type { Attributes, ContextManager, Span, TracerProvider } from "@opentelemetry/api";

/** What an application has registered. */
export interface Registered {
  /** The provider of tracers. */
  readonly trace?: TracerProvider;
  /** The manager of the active context. */
  readonly context?: ContextManager;
}

/** Where statements run, as the semantic conventions of databases name it. */
export interface DatabasePlace {
  /** The name of its pool of connections. */
  readonly pool: string;
  /** `db.namespace`: the name of the database, or its file. */
  readonly namespace: string;
  /** `server.address`. */
  readonly address?: string | undefined;
  /** `server.port`. */
  readonly port?: number | undefined;
}

/** What the spans of a database depend on. */
export interface SpanOptions {
  /** `db.system.name`. */
  readonly system: string;
  /** Where the database is, if that is known. */
  readonly place: DatabasePlace | undefined;
  /** Returns the `error.type` of a failure. */
  readonly errorType: (error: unknown) => string;
}

/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR`; nothing loads `@opentelemetry/api` here. */
const CLIENT = 2;
const ERROR = 2;
/** The most characters of a statement in which names are looked up, and the most names. */
const MAX_LENGTH = 4096;
const MAX_NAMES = 8;
const TEXTS = /'[^']*'/g;
const OPERATION = /^[\s(]*([a-z]{1,20})\b/i;
const COLLECTION =
  /\b(?:from|into|join|table(?: if(?: not)? exists)?|(?<!key )update)\s+((["`])[^"`]+\2(?:\.\2[^"`]+\2)?)/gi;

/** Runs what starts its span when it knows its statement. */
export async function runTraced<T>(
  run: (start: (sql: string) => void) => T | Promise<T>,
  options: Registered & SpanOptions,
): Promise<T> {
  let span: Span | undefined;
  try {
    return await run((sql) => span = startSpan(sql, options));
  } catch (error) {
    fail(span, options.errorType(error));
    throw error;
  } finally {
    span?.end();
  }
}

/** Reads the chunks of a stream in a span, which lasts until their end. */
export async function* readTraced<T>(
  chunks: AsyncIterable<T>,
  sql: string,
  options: Registered & SpanOptions,
): AsyncIterableIterator<T> {
  const span = startSpan(sql, options);
  try {
    yield* chunks;
  } catch (error) {
    fail(span, options.errorType(error));
    throw error;
  } finally {
    span?.end();
  }
}

/**
 * Starts the span of a statement, a child of the active one. Its name and its attributes are those
 * of the semantic conventions for SQL; of the statement it has the operation and the tables, and
 * neither the text nor values.
 */
function startSpan(
  sql: string,
  { trace, context, system, place }: Registered & SpanOptions,
): Span | undefined {
  const { summary, ...names } = namesIn(sql);
  const attributes = {
    "db.system.name": system,
    ...place && { "db.namespace": place.namespace },
    ...place?.address && { "server.address": place.address, "server.port": place.port },
    ...names,
    "db.query.summary": summary,
  };
  return trace?.getTracer("@fw/fw")
    .startSpan(summary, { kind: CLIENT, attributes }, context?.active());
}

function fail(span: Span | undefined, errorType: string): void {
  span?.setStatus({ code: ERROR });
  span?.setAttribute("error.type", errorType);
}

/** Reads the operation and the tables of a statement: names are quoted, and values are bound. */
function namesIn(sql: string): Attributes & { readonly summary: string } {
  const text = sql.slice(0, MAX_LENGTH).replace(TEXTS, "''");
  const operation = OPERATION.exec(text)?.[1]?.toUpperCase() ?? "SQL";
  const found = Array.from(text.matchAll(COLLECTION), ([, name = ""]) => name.replace(/["`]/g, ""));
  const collections = [...new Set(found)];
  const [collection] = collections;
  return {
    summary: [operation, ...collections.slice(0, MAX_NAMES)].join(" "),
    "db.operation.name": operation,
    ...collections.length === 1 && { "db.collection.name": collection },
  };
}
