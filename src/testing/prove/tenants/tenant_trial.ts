/**
 * The trial of one tenant against another: every route, in two databases.
 *
 * @module
 */
import { decodedUrl } from "../percent_encoding.ts";
import { curl } from "../request/exchange_lines.ts";
import { requestBy } from "../request/sent_request.ts";
import type { Failure } from "../part.ts";
import { shrink } from "../shrink.ts";
import { differenceOf } from "./answers.ts";
import { type Finding, findingOf, isSame, type Judging } from "./finding.ts";
import { smallerRequests } from "./smaller_requests.ts";
import type { RouteTrial } from "./trial_requests.ts";
import { type Settings, type Step, World, Worlds } from "./worlds.ts";

/** How many requests before a failure are sent again. */
const MAX_BEFORE = 400;

/** The result of a trial. */
export interface TenantTrialResult {
  readonly failures: readonly Failure[];
  /** How many requests were made. */
  readonly requests: number;
  /** What is revealed, and may be. */
  readonly revealed: ReadonlySet<string>;
  /** The routes that have refused every request of the stranger. */
  readonly refusing: readonly string[];
}

/** A failure, and the requests before it. */
interface Found {
  readonly step: Step;
  readonly finding: Finding;
  readonly before: readonly Step[];
}

/** Sends requests of a tenant, and judges the answers. */
export class TenantTrial {
  readonly #settings: Settings;
  readonly #judging: Judging;
  readonly #accepted: readonly string[];
  readonly #failures: Failure[] = [];
  readonly #revealed = new Set<string>();
  /** Routes whose answers differ by chance. */
  readonly #varying = new Set<string>();
  readonly #before: Step[] = [];
  /** What routes reveal, by their names: reported at the end unless they have another failure. */
  readonly #pending = new Map<string, Found>();
  /** The names of routes that have answered the stranger. */
  readonly #answered = new Set<string>();
  /** The names of routes with a reported failure. */
  readonly #failed = new Set<string>();
  #requests = 0;

  /** Takes what applications are started with, and what may be revealed. */
  constructor(
    settings: Settings,
    { judging, accepted }: { readonly judging: Judging; readonly accepted: readonly string[] },
  ) {
    this.#settings = settings;
    this.#judging = judging;
    this.#accepted = accepted;
  }

  /** Tries every route: one failure each. */
  async run(trials: readonly RouteTrial[]): Promise<TenantTrialResult> {
    let worlds = await Worlds.start(this.#settings);
    try {
      for (const step of trials.flatMap(({ steps }) => steps)) {
        if (this.#failed.has(nameOf(step)) || !await this.#try(step, worlds)) continue;
        await worlds[Symbol.asyncDispose]();
        this.#before.length = 0;
        worlds = await Worlds.start(this.#settings);
      }
    } finally {
      await worlds[Symbol.asyncDispose]();
    }
    for (const [name, found] of this.#pending) {
      if (!this.#failed.has(name)) await this.#report(found);
    }
    const names = [...new Set(trials.flatMap(({ steps }) => steps.map(nameOf)))];
    return {
      failures: this.#failures,
      requests: this.#requests,
      revealed: this.#revealed,
      refusing: names.filter((name) => !this.#answered.has(name) && !this.#failed.has(name)),
    };
  }

  /** Sends a request and judges its answers; returns whether the databases may differ now. */
  async #try(step: Step, worlds: Worlds): Promise<boolean> {
    const name = nameOf(step);
    const outcome = await worlds.send(step);
    this.#requests++;
    const { beside, without } = outcome;
    if (step.by === "stranger" && (without?.response.status ?? 500) < 400) this.#answered.add(name);
    const finding = this.#judge(step, outcome);
    if (!finding) {
      this.#before.push(step);
      return false;
    }
    const found = { step, finding, before: [...this.#before] };
    if (!this.#isAccepted(finding)) {
      if (finding.revealed.length === 0) await this.#report(found);
      else if (!this.#pending.has(name)) this.#pending.set(name, found);
    }
    // later answers would differ if the request wrote in one database alone
    return finding.revealed.length === 0 ||
      [beside, without].some((answer) => (answer?.response.status ?? 0) < 400);
  }

  #judge(step: Step, outcome: Parameters<typeof findingOf>[1]): Finding | undefined {
    if (step.by === "owner") return undefined;
    const finding = findingOf(step, outcome, this.#judging);
    return finding?.isDifference && this.#varying.has(nameOf(step)) ? undefined : finding;
  }

  #isAccepted({ revealed }: Finding): boolean {
    const accepted = revealed.filter((name) => this.#accepted.includes(name));
    for (const name of accepted) this.#revealed.add(name);
    return accepted.length > 0;
  }

  /** Reports a failure by the fewest requests; not if it occurs by chance. */
  async #report(found: Found): Promise<void> {
    const { step, finding } = found;
    const endsAt = performance.now() + this.#settings.context.reduceMs;
    const reproduced = await this.#reproduce(found);
    if (!reproduced && finding.isDifference) {
      this.#varying.add(nameOf(step));
      return;
    }
    const smallest = reproduced ? await this.#reduce(reproduced, endsAt) : { ...found, before: [] };
    this.#failures.push(this.#failureOf(smallest));
    this.#failed.add(nameOf(step));
  }

  /** Finds requests before a failure with which it occurs again: none, the last one, or all. */
  async #reproduce({ step, finding, before: earlier }: Found): Promise<Found | undefined> {
    const all = earlier.slice(-MAX_BEFORE);
    const last = all.slice(-1);
    for (const before of [[], ...last.length > 0 ? [last] : [], ...all.length > 1 ? [all] : []]) {
      const again = await this.#repeat([...before, step], finding);
      if (again) return { step, finding: again, before };
    }
    return undefined;
  }

  /** Reduces the requests before a failure, and then its own. */
  async #reduce(found: Found, endsAt: number): Promise<Found> {
    let smallest = found;
    const attempt = async ({ step, before }: Omit<Found, "finding">) => {
      if (performance.now() > endsAt) return false;
      const finding = await this.#repeat([...before, step], found.finding);
      if (finding) smallest = { step, before, finding };
      return finding !== undefined;
    };
    const { step } = found;
    await shrink(found.before, { fails: (before) => attempt({ step, before }), endsAt });
    let isSmaller = true;
    while (isSmaller && performance.now() < endsAt) {
      isSmaller = false;
      for (const request of smallerRequests(smallest.step.request)) {
        isSmaller = await attempt({ ...smallest, step: { ...step, request } });
        if (isSmaller) break;
      }
    }
    return smallest;
  }

  /** Sends requests in new databases, and returns the same fault of the last one, if it has it. */
  async #repeat(steps: readonly Step[], finding: Finding): Promise<Finding | undefined> {
    const step = steps.at(-1)!; // there is one
    const worlds = await Worlds.start(this.#settings);
    try {
      for (const before of steps.slice(0, -1)) await worlds.send(before);
      const outcome = await worlds.send(step);
      const found = findingOf(step, outcome, this.#judging);
      if (!found || !isSame(found, finding)) return undefined;
      if (!found.isDifference || !outcome.beside) return found;
      // the same rows, and the same requests: what differs nevertheless does so by chance
      const twin = await World.start(this.#settings, { hasOwner: true });
      try {
        for (const before of steps.slice(0, -1)) await twin.send(before);
        const answer = await twin.send(step);
        const isKnown = (text: string) => this.#judging.values.has(text);
        const isChance = !answer || differenceOf(outcome.beside, answer, { isKnown }) !== undefined;
        return isChance ? undefined : found;
      } finally {
        await twin[Symbol.asyncDispose]();
      }
    } finally {
      await worlds[Symbol.asyncDispose]();
    }
  }

  #failureOf({ step, before, finding: { faults, revealed, answers } }: Found): Failure {
    const { pair } = this.#judging;
    const steps = [...before, step];
    const accept = revealed.length === 0
      ? ""
      : `; revealed: [${JSON.stringify(revealed[0])}] accepts it`;
    return {
      subject: nameOf(step),
      message: faults.join("; ") + accept,
      details: [
        ...rowsIn(this.#settings, steps, answers),
        ...steps.map(({ by, request }) => curl(requestBy(pair[by], request), pair[by])),
        ...answers,
      ],
    };
  }
}

/** How many rows are described. */
const MAX_ROWS = 3;

/** Describes the rows of the owner whose values requests or answers have. */
function rowsIn(
  { seeds, pair }: Settings,
  steps: readonly Step[],
  answers: readonly string[],
): readonly string[] {
  const text = [
    ...steps.map(({ request: { path, body } }) => `${decodedUrl(path)} ${String(body ?? "")}`),
    ...answers,
  ].join("\n");
  const found = seeds.filter(({ side, values }) =>
    side === "owner" &&
    Object.values(values).some((value) => String(value).length > 6 && text.includes(String(value)))
  );
  return found.slice(0, MAX_ROWS).map(({ table, values }) => {
    const json = JSON.stringify(
      values,
      (_, each) => typeof each === "bigint" ? String(each) : each,
    );
    return `# a row of ${pair.owner.name} in ${table.replace(/^\d+:/, "")}: ${json}`;
  });
}

function nameOf({ route: { method, path } }: Step): string {
  return `${method} ${path}`;
}
