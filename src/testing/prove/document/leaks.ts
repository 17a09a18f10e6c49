/**
 * What no answer may contain: stacks, paths of the source, and secrets.
 *
 * @module
 */
import process from "node:process";
import { percentDecoded } from "../percent_encoding.ts";

/** Finds what a text must not contain; returns it in words. */
export type FindLeak = (text: string) => string | undefined;

/** The names of variables that are secrets. */
const SECRET_NAME = /(?:KEY|PASSWORD|SECRET|TOKEN)$/i;

/** Shorter values occur by chance. */
const MIN_LENGTH = 8;

/** A line of a stack of V8 or of JavaScriptCore, as it is or in JSON. */
const FRAME =
  /(?:\\n|\n)\s*(?:at |async |[\w.<>$]+@)[^\n]{0,200}?(?:file:|node:|ext:|npm:|\/)[^\n]{0,300}?:\d+:\d+/;

/** Returns the function that finds stacks, paths of files in the working directory, and secrets. */
export function leakFinder(secrets: readonly string[] = []): FindLeak {
  const forms = formsOf(secrets);
  const place = new RegExp(
    `${process.cwd().replaceAll(/[^\w/]/g, "\\$&")}/[\\w./-]*\\.[cm]?[jt]sx?\\b`,
  );
  return (text) => {
    if (forms.some((form) => text.includes(form))) return "a secret";
    if (FRAME.test(text)) return "a stack";
    return place.test(text) ? "a path of the source" : undefined;
  };
}

/** Returns the function that hides secrets in a text: reports are stored, and read by others. */
export function secretHider(secrets: readonly string[] = []): (text: string) => string {
  const forms = formsOf(secrets).toSorted((a, b) => b.length - a.length);
  return (text) => forms.reduce((text, form) => text.replaceAll(form, "<secret>"), text);
}

/** Returns secrets as they are, and in JSON. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const values = [...secrets.filter(Boolean), ...environmentSecrets()];
  return values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
}

function environmentSecrets(): readonly string[] {
  const values = Object.entries(process.env).flatMap(([name, value = ""]) =>
    name === "DATABASE_URL" ? [passwordOf(value)] : SECRET_NAME.test(name) ? [value] : []
  );
  return values.filter((value) => value.length >= MIN_LENGTH);
}

function passwordOf(url: string): string {
  return percentDecoded(URL.parse(url)?.password ?? "");
}
