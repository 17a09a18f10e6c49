/** All ways in which a value can be logged. */
import { format, inspect } from "node:util";

/** What is used of Bun, whose types are not installed. */
interface BunRuntime {
  inspect(value: unknown, options?: { depth: number }): string;
}

/** Returns the texts of a printed value, alone and within others, and its JSON unless that is refused. */
export function printed(value: object): readonly string[] {
  const copies = [
    value,
    [value],
    { value },
    new Map([[value, value]]),
    new Error("x", {
      cause: value,
    }),
  ];
  const spread = { ...value };
  const members = Object.getOwnPropertyNames(value).map((name) => Reflect.get(value, name));
  return [
    ...[...copies, spread, members, Object.entries(value)].flatMap((each) => inspections(each)),
    // not with getters as well: that reads the properties
    ...copies.map((each) => inspect(each, { depth: 20, showHidden: true, customInspect: false })),
    ...[value, spread, [value]].flatMap((each) => attempt(() => JSON.stringify(each))),
    ...attempt(() => inspect(structuredClone(value), { depth: 20, showHidden: true })),
    String(value),
    `${value}`,
    format("%s %o %O", value, value, value),
  ];
}

/** Returns what a console shows of a value. */
export function inspections(value: unknown): readonly string[] {
  const options = { depth: 20, showHidden: true, getters: true };
  const { Bun } = globalThis as { Bun?: BunRuntime };
  return [
    inspect(value),
    inspect(value, options),
    ...("Deno" in globalThis ? [Deno.inspect(value), Deno.inspect(value, options)] : []),
    ...(Bun ? [Bun.inspect(value), Bun.inspect(value, { depth: 20 })] : []),
  ];
}

function attempt(print: () => string | undefined): readonly string[] {
  try {
    return [print() ?? ""];
  } catch {
    return [];
  }
}
