/**
 * Failures in as few and as small requests as possible, each attempt with a new application.
 *
 * @module
 */
import type { Caller, Send } from "../part.ts";
import type { CheckedAnswer } from "./check_answer.ts";
import { curl } from "../request/exchange_lines.ts";
import { type PlannedRequest, writeRequest } from "../request/planned_request.ts";
import { RepeatedValues, type SeenValue, SeenValues } from "../request/seen_values.ts";
import type { SentRequest } from "../request/sent_request.ts";
import { shrink } from "../shrink.ts";
import { WrongAnswer } from "./wrong_answer.ts";

/** A new application. */
export interface Restarted extends AsyncDisposable {
  readonly send: Send;
  readonly callers: readonly Caller[];
}

/** Starts an application anew. */
export type Restart = () => Promise<Restarted>;

/** How failures are reduced. */
export interface Reduction {
  readonly restart: Restart;
  /** For how long each is, in milliseconds. */
  readonly reduceMs: number;
}

/** A request that was sent, with the values of earlier answers that are in it. */
export interface Noted {
  readonly planned: PlannedRequest;
  readonly picked: readonly SeenValue[];
}

/** Sends a request, and checks its answer. */
type ExchangeWith = (
  planned: PlannedRequest,
  sent: SentRequest,
  send: Send,
) => Promise<CheckedAnswer>;

/** The largest number of requests before a failure that are sent again. */
const MAX_BEFORE = 400;

/** Reproduces failures, one at a time. */
export class Reproduction {
  readonly #reduction: Reduction | undefined;
  readonly #exchange: ExchangeWith;
  readonly #noted = new Map<number, Noted>();
  #state: State | undefined;

  /** Takes how failures are reduced; without it, they are left as they are. */
  constructor(reduction: Reduction | undefined, { exchange }: { readonly exchange: ExchangeWith }) {
    this.#reduction = reduction;
    this.#exchange = exchange;
  }

  /** Whether a failure is being reproduced. */
  get isUnderWay(): boolean {
    return this.#state !== undefined;
  }

  /** Remembers a request that has succeeded, by its number: later ones may depend on it. */
  note(number: number, noted: Noted): void {
    if (this.#reduction) this.#noted.set(number, noted);
  }

  /** Begins with a failure: finds the requests before it without which it does not occur. */
  async begin(
    error: WrongAnswer,
    { planned, picked, seen }: Noted & { readonly seen: SeenValues },
  ): Promise<void> {
    const state: State = {
      failure: error,
      picked,
      before: [],
      endsAt: performance.now() + (this.#reduction?.reduceMs ?? 0),
      isReproduced: false,
      adapt: unchanged,
      adaptEarlier: unchanged,
    };
    this.#state = state;
    if (!this.#reduction) return;
    const all = [...this.#noted.keys()].slice(-MAX_BEFORE);
    const recalled = recallable(planned, seen).map((picked) => ({
      picked,
      before: this.#neededBy(picked),
      adapt: recallingPath,
    }));
    const attempts: readonly Partial<State>[] = [
      { before: [] },
      { before: this.#neededBy(picked) },
      ...recalled,
      { before: all, picked, adapt: state.adapt },
    ];
    for (const attempt of attempts) {
      const { adapt } = Object.assign(state, attempt);
      for (const adapted of [withoutRecalledBody(adapt), adapt]) {
        state.adapt = adapted;
        if (!await this.#fails(planned, state.before)) continue;
        state.isReproduced = true;
        state.before = await shrink(state.before, {
          fails: (fewer) => this.#fails(planned, fewer),
          endsAt: state.endsAt,
        });
        state.adaptEarlier = withoutOptions;
        if (!await this.#fails(planned, state.before)) state.adaptEarlier = unchanged;
        return;
      }
      state.adapt = adapt;
    }
  }

  /**
   * Tries a smaller request.
   *
   * @throws {WrongAnswer} if it fails in the same way
   */
  async attempt(planned: PlannedRequest): Promise<void> {
    const state = this.#state!; // it is under way
    if (!state.isReproduced || performance.now() > state.endsAt) return;
    if (await this.#fails(planned, state.before)) throw state.failure;
  }

  /** Ends with the smallest failure that was found; `undefined` if none is under way. */
  end(): WrongAnswer | undefined {
    const failure = this.#state?.failure;
    this.#state = undefined;
    return failure;
  }

  /** Returns the numbers of the requests whose answers have what was picked, and so on. */
  #neededBy(picked: readonly SeenValue[]): readonly number[] {
    const numbers = new Set<number>();
    const add = (picked: readonly SeenValue[]) => {
      for (const { from } of picked) {
        if (numbers.has(from)) continue;
        numbers.add(from);
        add(this.#noted.get(from)?.picked ?? []);
      }
    };
    add(picked);
    return [...numbers].sort((a, b) => a - b);
  }

  /** Checks whether a request fails in the same way after others, and keeps that failure. */
  async #fails(planned: PlannedRequest, before: readonly number[]): Promise<boolean> {
    const state = this.#state!; // as above
    const application = await this.#reduction!.restart(); // there is one if a failure is reproduced
    const values = new SeenValues();
    const earlier: string[] = [];
    const send = async ({ planned, picked }: Noted, lines: string[] = []) => {
      const caller = application.callers.find(({ name }) => name === planned.caller.name);
      const again = caller ? { ...planned, caller } : planned;
      const sent = writeRequest(again, new RepeatedValues(picked, values));
      lines.push(curl(sent, again.caller));
      return await this.#exchange(again, sent, application.send);
    };
    try {
      for (const number of before) {
        const { planned, picked } = this.#noted.get(number)!; // it was noted
        const { json } = await send({ planned: state.adaptEarlier(planned), picked }, earlier);
        values.note(json, number);
      }
      await send({ planned: state.adapt(planned), picked: state.picked });
      return false;
    } catch (error) {
      if (!(error instanceof WrongAnswer)) throw error;
      if (!error.isLike(state.failure)) return false;
      const { details = [], ...failure } = error.failure;
      state.failure = new WrongAnswer({ ...failure, details: [...earlier, ...details] });
      return true;
    } finally {
      await application[Symbol.asyncDispose]();
    }
  }
}

interface State {
  failure: WrongAnswer;
  picked: readonly SeenValue[];
  /** The numbers of the requests before it. */
  before: readonly number[];
  readonly endsAt: number;
  isReproduced: boolean;
  /** Changes the request, so that its path has what was picked. */
  adapt: (planned: PlannedRequest) => PlannedRequest;
  /** Changes the requests before it. */
  adaptEarlier: (planned: PlannedRequest) => PlannedRequest;
}

/** How many values of each parameter are tried in place of one that was made up. */
const MAX_RECALLED = 3;

/** Returns values for the parameters of the path of a request, which earlier answers have. */
function recallable(
  { operation: { parameters } }: PlannedRequest,
  seen: SeenValues,
): readonly (readonly SeenValue[])[] {
  const latest = parameters.filter((each) => each.in === "path")
    .map(({ name }) => seen.latest(name, MAX_RECALLED));
  const count = Math.max(0, ...latest.map(({ length }) => length));
  return Array.from({ length: count }, (_, i) => latest.flatMap((values) => values[i] ?? []));
}

function recallingPath(
  { draft: { raw: _, ...draft }, ...planned }: PlannedRequest,
): PlannedRequest {
  return { ...planned, draft, recall: { ...planned.recall, path: 0 } };
}

/** A body that has nothing of earlier answers can be made smaller. */
function withoutRecalledBody(adapt: State["adapt"]): State["adapt"] {
  return (planned) => {
    const { recall: { body: _, ...recall }, ...adapted } = adapt(planned);
    return { ...adapted, recall };
  };
}

function unchanged(planned: PlannedRequest): PlannedRequest {
  return planned;
}

/** Leaves out what a request need not have. */
function withoutOptions(planned: PlannedRequest): PlannedRequest {
  const { operation, draft: { path, raw, body } } = planned;
  const schema = operation.body?.content?.get("application/json");
  const { json } = body ?? {};
  const draft = { path, ...raw && { raw }, query: [], headers: {} };
  if (!schema || typeof json !== "object" || json === null) {
    return { ...planned, draft: { ...draft, body } };
  }
  const fewest = Object.entries(json).reduce<object>((rest, [name]) => {
    const fewer = Object.fromEntries(Object.entries(rest).filter(([key]) => key !== name));
    return schema.holds(fewer) ? fewer : rest;
  }, json);
  const content = JSON.stringify(fewest);
  const smaller = { type: "application/json", json: fewest, content };
  return { ...planned, draft: { ...draft, body: smaller } };
}
