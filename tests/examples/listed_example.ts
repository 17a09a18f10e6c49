/** The examples as the documentation lists them, with their commands and least permissions. */
import { page } from "../support/docs.ts";

/** A row of the table of examples. */
export interface ListedExample {
  readonly command: "run" | "serve";
  /** Its path from the root. */
  readonly file: string;
  /** Flags of Deno, such as `--allow-env=PORT`. */
  readonly permissions: readonly string[];
}

const ROW = /^\| `deno (?<command>run|serve) (?<file>\S+)` +\| (?<permissions>[^|]+) \|/gm;

/** Reads the examples that the documentation lists. */
export function listedExamples(): readonly ListedExample[] {
  return [...page("getting-started").from("## Examples").matchAll(ROW)].map(({ groups }) => {
    const { command, file = "", permissions = "" } = groups ?? {};
    return {
      command: command === "serve" ? "serve" : "run",
      file,
      permissions: [...permissions.matchAll(/`([^`]+)`/g)].map(([, flag = ""]) => flag),
    };
  });
}

/** The permissions of an example without one of them. */
export interface Reduced {
  readonly without: string;
  readonly permissions: readonly string[];
}

/** Removes each name, address or path of each flag in turn, and a flag with its last one. */
export function reduced(permissions: readonly string[]): readonly Reduced[] {
  return permissions.flatMap((flag) => {
    const [name = "", list] = flag.split("=");
    const others = permissions.filter((each) => each !== flag);
    const values = list?.split(",") ?? [];
    if (values.length < 2) return [{ without: flag, permissions: others }];
    return values.map((value) => {
      const rest = values.filter((each) => each !== value);
      return {
        without: `${name}=${value}`,
        permissions: [...others, `${name}=${rest.join(",")}`],
      };
    });
  });
}
