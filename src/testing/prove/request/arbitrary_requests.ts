/**
 * Random requests for the operations of a document, with the verdict of the document.
 *
 * @module
 */
import fc from "fast-check";
import { bodyOf, wrongBodyOf } from "./arbitrary_body.ts";
import { otherTextsOf, type Texts, textsOf, wrongTextsOf } from "./arbitrary_parameter.ts";
import type { Undocumented } from "../options.ts";
import type { Caller } from "../part.ts";
import type { SchemaContext } from "./arbitrary_value.ts";
import { odditiesOf } from "./arbitrary_oddities.ts";
import { named } from "./named_arbitrary.ts";
import type { Alteration, Draft, PlannedRequest, Verdict } from "./planned_request.ts";
import type { DescribedOperation, DescribedParameter, ServedDocument } from "./served_document.ts";

/** Options of {@linkcode requestsFor}. */
export interface RequestsOptions {
  /** Who makes requests. */
  readonly callers: readonly Caller[];
  /** Facts that the document does not describe. */
  readonly undocumented?: Undocumented | undefined;
}

/** Requests for all operations: valid, invalid, and undecided by the document. */
export function requestsFor(
  document: ServedDocument,
  options: RequestsOptions,
): fc.Arbitrary<PlannedRequest> {
  return fc.oneof(
    ...document.operations.map((operation) =>
      named(
        requestsOf(operation, document, options),
        `${operation.method} ${operation.template}`,
      )
    ),
  );
}

function requestsOf(
  operation: DescribedOperation,
  document: ServedDocument,
  { callers, undocumented }: RequestsOptions,
): fc.Arbitrary<PlannedRequest> {
  const context: SchemaContext = {
    resolve: (reference) => document.resolve(reference),
    undocumented,
  };
  const drafts = draftsOf(operation, context);
  const faults = faultsOf(operation, context);
  const isTold = !undocumented?.operations?.includes(operation.id);
  const plan = (verdict: Verdict, alterations: fc.Arbitrary<Alteration>) =>
    fc.record({
      draft: drafts,
      alteration: alterations,
      caller: fc.constantFrom(...callers),
      recall: fc.record({ path: mostly(fc.nat(100), 3), body: mostly(fc.nat(100), 1) }),
    }).map(({ draft, alteration: { what, alter }, caller, recall }) => ({
      operation,
      verdict: operation.needsIdentity && !caller.isKnown
        ? "unidentified" as const
        : isTold
        ? verdict
        : "undecided",
      what,
      caller,
      draft: alter(draft),
      recall: what.startsWith("path") ? {} : withoutUndefined(recall), // else it would be right again
    }));
  const nothing = fc.constant<Alteration>({ what: "nothing", alter: (draft) => draft });
  return fc.oneof(
    { arbitrary: plan("valid", nothing), weight: 20 },
    ...faults.length > 0 ? [{ arbitrary: plan("invalid", fc.oneof(...faults)), weight: 20 }] : [],
    ...operation.body ? [{ arbitrary: plan("invalid", large), weight: 1 }] : [],
    { arbitrary: plan("undecided", fc.oneof(...odditiesOf(operation))), weight: 8 },
  );
}

/** Parts of requests that satisfy the document. */
export function draftsOf(
  operation: DescribedOperation,
  context: SchemaContext,
): fc.Arbitrary<Draft> {
  const named = operation.parameters.filter(({ isOpen }) => !isOpen);
  const texts = fc.record(
    Object.fromEntries(named.map((parameter) => [
      keyOf(parameter),
      mostly(textsOf(parameter, context), parameter.required ? Infinity : 1),
    ])),
  );
  const accepted = fc.constantFrom(...acceptedTypes(operation));
  const open = operation.parameters.find(({ isOpen }) => isOpen);
  const others = open ? otherTextsOf(open, context) : fc.constant([]);
  const parts = fc.tuple(texts, others, bodyOf(operation, context), accepted);
  return parts.map(([texts, others, body, accept]) => {
    const query = others.filter(([name]) => !named.some((parameter) => parameter.name === name));
    return named.reduce<Draft>((draft, parameter) => {
      const given = texts[keyOf(parameter)];
      return given ? withParameter(draft, parameter, given) : draft;
    }, { path: {}, query, headers: accept === undefined ? {} : { accept }, body });
  });
}

/** The media types that name a version, which a request has to accept; `undefined` without any. */
function acceptedTypes({ responses }: DescribedOperation): readonly (string | undefined)[] {
  const types = [...responses].filter(([status]) => status < 300)
    .flatMap(([, { content }]) => [...content?.keys() ?? []])
    .filter((type) => type.includes(";"));
  return types.length === 0 ? [undefined] : types;
}

/** The ways in which a request violates the document. */
function faultsOf(
  operation: DescribedOperation,
  context: SchemaContext,
): readonly fc.Arbitrary<Alteration>[] {
  const named = operation.parameters.filter(({ isOpen }) => !isOpen);
  const ofParameters = named.flatMap((parameter) => {
    const { in: where, name, required } = parameter;
    const wrong = wrongTextsOf(parameter, context);
    const isLeftOut = required && where !== "path";
    return [
      ...wrong
        ? [wrong.map((texts) => ({
          what: `${where} parameter ${name} is ${JSON.stringify(texts)}`,
          alter: (draft: Draft) => withParameter(draft, parameter, texts),
        }))]
        : [],
      ...isLeftOut
        ? [fc.constant({
          what: `${where} parameter ${name} is missing`,
          alter: (draft: Draft) => without(draft, parameter),
        })]
        : [],
    ];
  });
  const body = wrongBodyOf(operation, context)?.map(({ what, body }) => ({
    what,
    alter: (draft: Draft) => ({ ...draft, body }),
  }));
  return [...ofParameters, ...body ? [body] : []];
}

const LARGE = JSON.stringify("x".repeat(1 << 20));

/** A body that is larger than an application reads. */
const large: fc.Arbitrary<Alteration> = fc.constant({
  what: "the body has more than 1 MiB",
  alter: (draft) => ({
    ...draft,
    body: { type: "application/json", content: LARGE },
  }),
});

function withParameter(draft: Draft, parameter: DescribedParameter, texts: Texts): Draft {
  const { in: where, name } = parameter;
  const rest = without(draft, parameter);
  const text = texts.join(",");
  switch (where) {
    case "path":
      return { ...rest, path: { ...rest.path, [name]: text } };
    case "query":
      return { ...rest, query: [...rest.query, ...texts.map((text) => [name, text] as const)] };
    case "header":
      return { ...rest, headers: { ...rest.headers, [name]: text } };
  }
}

function without(draft: Draft, { in: where, name }: DescribedParameter): Draft {
  switch (where) {
    case "path":
      return draft;
    case "query":
      return { ...draft, query: draft.query.filter(([each]) => each !== name) };
    case "header":
      return {
        ...draft,
        headers: Object.fromEntries(Object.entries(draft.headers).filter(([key]) => key !== name)),
      };
  }
}

/** Generates `undefined` once for every N values. */
function mostly<T>(arbitrary: fc.Arbitrary<T>, times: number): fc.Arbitrary<T | undefined> {
  if (times === Infinity) return arbitrary;
  return fc.oneof(
    { arbitrary, weight: times },
    { arbitrary: fc.constant(undefined), weight: 1 },
  );
}

function withoutUndefined<T extends object>(record: T): T {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as T;
}

function keyOf({ in: where, name }: DescribedParameter): string {
  return `${where} ${name}`;
}
