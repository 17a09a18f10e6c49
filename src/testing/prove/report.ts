/**
 * The report of a run.
 *
 * @module
 */
import type { PartName, ProveRecord } from "./options.ts";
import type { Failure, PartResult } from "./part.ts";

/** The report of a part. */
export interface PartReport extends PartResult {
  /** Its name. */
  readonly name: PartName;
  /** How long it has taken, in milliseconds. */
  readonly ms: number;
}

/** What a run has found. */
export class ProveReport {
  /** What determined the requests. */
  readonly seed: number;
  /** How many requests were made from the document. */
  readonly requests: number;
  /** The reports of its parts. */
  readonly parts: readonly PartReport[];
  readonly #recorded: ProveRecord | undefined;

  /** Creates a report. */
  constructor(
    parts: readonly PartReport[],
    { seed, requests, recorded }: {
      readonly seed: number;
      readonly requests: number;
      readonly recorded: ProveRecord | undefined;
    },
  ) {
    this.parts = parts;
    this.seed = seed;
    this.requests = requests;
    this.#recorded = recorded;
  }

  /** Whether nothing is wrong. */
  get isPassed(): boolean {
    return this.parts.every(({ failures }) => failures.length === 0);
  }

  /**
   * The content of `prove.json` with what this run has found: parts that were not run keep what
   * they have recorded. It is unchanged if no part has anything to record.
   */
  get record(): ProveRecord {
    const found = this.parts.flatMap(({ name, record }) =>
      record === undefined ? [] : [[name, record]]
    );
    if (found.length === 0) return this.#recorded ?? {};
    const { seed, requests } = this;
    return { ...this.#recorded, seed, requests, ...Object.fromEntries(found) };
  }

  /** Returns the report as text: a line for each part or failure, with the requests below it. */
  toText(): string {
    const width = Math.max(...this.parts.map(({ name }) => name.length));
    const lines = this.parts.flatMap(({ name, checked, outcome, failures, notes = [] }) => {
      const begin = name.padEnd(width);
      const blank = " ".repeat(width);
      const found = failures.flatMap(({ subject, message, details = [] }) => [
        `${begin}  ${subject}: ${message}`,
        ...details.map((line) => `${blank}    ${line}`),
      ]);
      const summary = failures.length === 0 ? `${checked}: ${outcome}` : checked;
      return [...found, `${begin}  ${summary}`, ...notes.map((note) => `${blank}  ${note}`)];
    });
    const count = this.parts.reduce((sum, { failures }) => sum + failures.length, 0);
    const isByRequests = this.parts.some(({ name, failures }) =>
      name !== "contract" && failures.length > 0
    );
    const repeating = isByRequests ? `; fw prove --seed ${this.seed} repeats the requests` : "";
    const end = count === 0 ? [] : [`${count} failure${count === 1 ? "" : "s"}${repeating}`];
    return [...lines, ...end].join("\n");
  }

  /** Returns the report as JSON. */
  toJSON(): {
    readonly seed: number;
    readonly requests: number;
    readonly isPassed: boolean;
    readonly parts: readonly PartReport[];
  } {
    const { seed, requests, isPassed, parts } = this;
    return { seed, requests, isPassed, parts };
  }

  /** Returns the report as the XML of JUnit: a suite for each part, and a case for each failure. */
  toJUnit(): string {
    const suites = this.parts.map(({ name, ms, checked, outcome, failures }) => {
      const cases = failures.length === 0
        ? [`    <testcase classname="${name}" name="${escaped(`${checked}: ${outcome}`)}"/>`]
        : failures.map((failure) => caseOf(name, failure));
      const counts = `tests="${cases.length}" failures="${failures.length}"`;
      return [
        `  <testsuite name="${name}" ${counts} time="${(ms / 1000).toFixed(3)}">`,
        ...cases,
        "  </testsuite>",
      ].join("\n");
    });
    const lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="fw prove">'];
    return [...lines, ...suites, "</testsuites>", ""].join("\n");
  }
}

function caseOf(name: PartName, { subject, message, details = [] }: Failure): string {
  return `    <testcase classname="${name}" name="${escaped(subject)}">` +
    `<failure message="${escaped(message)}">${escaped(details.join("\n"))}</failure></testcase>`;
}

/** Escapes a text for XML 1.0 (§2.2, §2.4), which cannot contain most control characters. */
function escaped(text: string): string {
  return text.toWellFormed()
    // deno-lint-ignore no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}
