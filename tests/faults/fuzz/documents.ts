/** Requests that are made from the documents of all examples, over sockets. */
import { UNDOCUMENTED } from "../../openapi/callers.ts";
import { checkAnswers } from "../../support/check_answers.ts";
import type { Send } from "../../../src/testing/prove/part.ts";
import { Random } from "../random.ts";
import type { Given, Outcome } from "../scenario.ts";
import type { ServedApplication } from "../server/examples_application.ts";
import { startInstance } from "../server/instance.ts";

/** For all runtimes together. */
const REQUESTS = 200_000;
const QUICK_REQUESTS = 1_500;
const RUNTIMES = 3;
/** How many go on at once for an application, so that they are interleaved. */
const AT_ONCE = 2;
/** Clients and servers have limits of their own. */
const MAX_HEAD_LENGTH = 8_000;
const DEADLINE_MS = 60_000;

/** Sends requests to every application, single and interleaved, and checks each answer. */
export async function documents({ runtime, isQuick, seed }: Given): Promise<Outcome> {
  await using instance = await startInstance(runtime, {
    file: "tests/faults/server/examples_application.ts",
    maxRunMs: 7_200_000,
  });
  const line = await instance.process.until(/SERVES .*\n/);
  const served: readonly ServedApplication[] = JSON.parse(line.replace("SERVES ", ""));
  const total = (isQuick ? QUICK_REQUESTS : REQUESTS) / RUNTIMES;
  const failures: string[] = [];
  let answers = 0;
  const trial = async (application: ServedApplication, own: number) => {
    const { name, origin, callers, share, jsonPath, problemType } = application;
    const requests = Math.ceil(total * share / 100 / AT_ONCE);
    try {
      const result = await checkAnswers({
        send: sender(origin, own),
        callers,
        requests,
        seed: own,
        undocumented: UNDOCUMENTED,
        maxHeadLength: MAX_HEAD_LENGTH,
        ...jsonPath !== undefined && { jsonPath },
        ...problemType !== undefined && { problemType },
      });
      answers += result.answers;
    } catch (error) {
      failures.push(`${name}, seed ${seed}: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const [index, application] of served.entries()) {
    const seeds = Array.from({ length: AT_ONCE }, (_, n) => seed + index * AT_ONCE + n);
    await Promise.all(seeds.map((own) => trial(application, own)));
  }
  return {
    injected: answers,
    requests: answers,
    asExpected: answers - failures.length,
    note: `${served.length} applications, seed ${seed}`,
    failures: [...failures, ...instance.unexpectedOutput()],
  };
}

/** Sends each request from another address, through a proxy that is trusted. */
function sender(origin: string, seed: number): Send {
  const random = new Random(seed);
  return (path, init) => {
    const headers = new Headers(init?.headers);
    const address = `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`;
    if (!headers.has("x-forwarded-for")) headers.set("x-forwarded-for", address);
    const signal = AbortSignal.timeout(DEADLINE_MS);
    return fetch(origin + path, { ...init, headers, signal });
  };
}
