/**
 * Reads and validates the input of a route, from a context or from a request without one.
 *
 * @module
 */
import { isPromiseLike } from "../../platform/ready.ts";
import type { BodyFormat } from "../http/body.ts";
import type { InputPart } from "../http/validation_issue.ts";
import type { Route } from "./route.ts";
import {
  type AnySchema,
  type InputRefusal,
  InputSchema,
  refuse,
  type Validated,
} from "../schema/validation.ts";

/** The input of a handler, by the names of its parts. */
export type Input = Record<string, unknown>;

/** The input of a request while it is read. */
export interface Reading<Source> {
  readonly source: Source;
  readonly input: Input;
  readonly refusals: InputRefusal[];
}

/** Reads one part of the input, or checks what was read. */
export type Step<Source> = (reading: Reading<Source>) => void | Promise<void>;

/** How the parts of the input are read from a source. */
export interface Readers<Source> {
  readonly params: (source: Source) => unknown;
  readonly query: (source: Source) => unknown;
  readonly headers: (source: Source) => unknown;
  readonly body: (source: Source, consumes: readonly BodyFormat[] | undefined) => unknown;
  /** Checks whether the body is a form. */
  readonly isForm: (source: Source) => boolean;
}

/** The input of a path without parameters. */
const NO_PARAMS = Object.freeze({});

/** Runs the steps of a reading in order; waits only after one that returns a promise. */
export function runSteps<Source>(
  steps: readonly Step<Source>[],
  reading: Reading<Source>,
): void | Promise<void> {
  for (let i = 0; i < steps.length; i++) {
    const done = steps[i]?.(reading);
    if (done) return done.then(() => runSteps(steps.slice(i + 1), reading));
  }
}

/** Creates the reading of a request, of which nothing is read yet. */
export function readingOf<Source>(source: Source): Reading<Source> {
  return { source, input: { params: NO_PARAMS }, refusals: [] };
}

/** Creates the steps that read and validate every part; then one error lists the issues of all. */
export function inputSteps<Source>(
  { options }: Route,
  { path, readers }: { readonly path: string; readonly readers: Readers<Source> },
): readonly Step<Source>[] {
  const { params, query, headers, body, consumes } = options;
  const steps: Step<Source>[] = [];
  const add = (key: string, part: Omit<Part<Source>, "key">) =>
    void steps.push(partStep({ ...part, key }));
  if (params || path.includes(":")) {
    add("params", { read: readers.params, schema: input("path", params) });
  }
  if (query) add("query", { read: readers.query, schema: input("query", query) });
  if (headers) add("headers", { read: readers.headers, schema: input("header", headers) });
  if (body) {
    const mayBeForm = consumes?.some((format) => format !== "json") === true;
    add("body", {
      read: (source) => readers.body(source, consumes),
      schema: input("body", body),
      ...mayBeForm && { isForm: readers.isForm },
    });
  }
  if (steps.length === 0) return steps;
  return [...steps, ({ refusals }) => {
    if (refusals.length > 0) throw refuse(refusals);
  }];
}

/** One part of the input: its source and its schema. */
export interface Part<Source> {
  readonly key: string;
  readonly read: (source: Source) => unknown;
  readonly schema?: InputSchema<AnySchema> | undefined;
  readonly isForm?: (source: Source) => boolean;
}

/** Creates the step that reads and validates a part. */
export function partStep<Source>({ key, read, schema, isForm }: Part<Source>): Step<Source> {
  function keep({ input, refusals }: Reading<Source>, { value, refusal }: Validated<AnySchema>) {
    if (refusal) refusals.push(refusal);
    input[key] = value;
  }
  function validate(reading: Reading<Source>, value: unknown): void | Promise<void> {
    if (!schema) return void (reading.input[key] = value);
    const validated = schema.validate(value, isForm && { isFields: isForm(reading.source) });
    if (!(validated instanceof Promise)) return keep(reading, validated);
    return validated.then((validated) => keep(reading, validated));
  }
  return (reading) => {
    const value = read(reading.source);
    if (!isPromiseLike(value)) return validate(reading, value);
    return Promise.resolve(value).then((value) => validate(reading, value));
  };
}

function input(part: InputPart, schema: AnySchema | undefined): InputSchema<AnySchema> | undefined {
  return schema && new InputSchema(part, schema);
}
