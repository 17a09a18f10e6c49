/**
 * Names of generated code.
 *
 * @module
 */
import { camelCase, capitalCase, kebabCase, noCase, pascalCase, snakeCase } from "change-case";
// @ts-types="@types/pluralize"
import pluralize from "pluralize";
import { CliError } from "../terminal/cli_error.ts";

/** Plurals that `pluralize` does not know. */
const IRREGULAR = [
  ["cache", "caches"],
  ["cookie", "cookies"],
  ["canvas", "canvases"],
  ["lens", "lenses"],
  ["bias", "biases"],
  ["virus", "viruses"],
  ["axis", "axes"],
] as const;
for (const [one, many] of IRREGULAR) pluralize.addIrregularRule(one, many);
for (const word of ["saas", "physics"]) pluralize.addUncountableRule(word);

/** A name in the cases that code, files, paths and sentences use. */
export class EntityName {
  /** `UserProfile`: classes. */
  readonly pascal: string;
  /** `userProfile`: variables and fields. */
  readonly camel: string;
  /** `user_profile`: files, tables and columns. */
  readonly snake: string;
  /** `user-profile`: paths. */
  readonly kebab: string;
  /** `User Profile`: titles. */
  readonly title: string;
  /** `user profile`: sentences. */
  readonly prose: string;

  private constructor(words: string) {
    this.pascal = pascalCase(words);
    this.camel = camelCase(words);
    this.snake = snakeCase(words);
    this.kebab = kebabCase(words);
    this.title = capitalCase(words);
    this.prose = noCase(words);
  }

  /**
   * Reads a name in any case: `user-profile`, `userProfile`, `UserProfile` and
   * `user_profile` are equal.
   *
   * @throws {CliError} if it is empty, reserved, too long, does not start with a letter, or has
   * other characters than A to Z, a to z, digits, - and _
   */
  static parse(text: string): EntityName {
    if (text.trim() === "") throw new CliError("Cannot use the name: it is empty");
    const shown = JSON.stringify(text);
    if (!/^\p{L}/u.test(text)) {
      throw new CliError(`Cannot use the name ${shown}: it does not start with a letter`);
    }
    if (!/^[\w -]+$/.test(text)) {
      throw new CliError(
        `Cannot use the name ${shown}: it has other characters than A to Z, digits, - and _`,
      );
    }
    if (text.length > MAX_LENGTH) {
      throw new CliError(`Cannot use the name ${shown}: it is over ${MAX_LENGTH} characters`);
    }
    // the s of a plural acronym is not a word: userIDs
    const name = new EntityName(
      text.replaceAll(/(?<=[A-Z])[A-Z]+s(?![a-z])/g, (end) => end.toLowerCase()),
    );
    if (RESERVED.has(name.camel.toLowerCase())) {
      throw new CliError(`Cannot use the name ${shown}: it is a reserved word`);
    }
    return name;
  }

  /** Checks whether a text begins as a name and is not reserved. */
  static isName(text: string): boolean {
    return /^[A-Za-z]/.test(text) && !RESERVED.has(camelCase(text).toLowerCase());
  }

  /**
   * Removes the last word, unless it is the only one: `CatsService` without `service` is `Cats`.
   */
  without(word: string): EntityName {
    const words = this.kebab.split("-");
    const isLast = words.length > 1 && words.at(-1) === word;
    return isLast ? EntityName.parse(words.slice(0, -1).join("-")) : this;
  }

  /** Returns the singular: `person` of `people`. */
  singular(): EntityName {
    return new EntityName(singularOf(this.snake));
  }

  /** Returns the plural: `people` of `person`. */
  plural(): EntityName {
    return new EntityName(pluralOf(this.snake));
  }

  /** Returns the name with `a` or `an`, for sentences. */
  withArticle(): string {
    return `${/^(hour|[aeio]|u(?!ni|se|ti))/.test(this.prose) ? "an" : "a"} ${this.prose}`;
  }
}

/** Returns the plural of a name in snake case: `order_items` of `order_item`. */
export function pluralOf(snake: string): string {
  return withLast(snake, (word) => pluralize.plural(word));
}

/** Returns the singular of a name in snake case: `order_item` of `order_items`. */
export function singularOf(snake: string): string {
  // a short word that ends in s is more often an acronym: dns, gps
  return withLast(snake, (word) => word.length > 3 ? pluralize.singular(word) : word);
}

function withLast(snake: string, change: (word: string) => string): string {
  const words = snake.split("_");
  return [...words.slice(0, -1), change(words.at(-1) ?? "")].join("_");
}

/** File systems allow 255 bytes, including the suffixes of files. */
const MAX_LENGTH = 100;

/** Reserved words of ECMAScript (ECMA-262 §12.7.2), and devices of Windows. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "await break case catch class const continue debugger default delete do else enum export extends " +
    "false finally for function if import in instanceof new null return super switch this throw true " +
    "try typeof var void while with yield let static implements interface package private protected " +
    "public arguments eval undefined constructor prototype con prn aux nul"
  ).split(" "),
);
