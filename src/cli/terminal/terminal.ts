/**
 * The terminal: output with colours, progress, tables and prompts.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { stripVTControlCharacters } from "node:util";
import { CliError, Interruption } from "./cli_error.ts";
import { printable } from "./printable.ts";

/** The escape codes that begin and end a style (ECMA-48 §8.3.117). */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** A style of text. */
export type Style = keyof typeof STYLES;

/** Styles text, if its stream shows colours. */
export type Paint = (style: Style, text: string) => string;

/** After how many milliseconds progress is shown. */
const PROGRESS_AFTER_MS = 500;
const FRAME_MS = 80;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const CLEAR_LINE = "\r\x1b[K";

/** Styles text for stdout, and escapes its controls. */
export const paint: Paint = (style, text) => painted(process.stdout, { style, text });

/** Styles text for stderr, and escapes its controls. */
export const paintError: Paint = (style, text) => painted(process.stderr, { style, text });

/** Prints a line on stdout; its controls are escaped, but for those of styles. */
export function print(line = ""): void {
  process.stdout.write(`${shown(line)}\n`);
}

/** Prints a line on stderr, as `print` does. */
export function printError(line: string): void {
  process.stderr.write(`${shown(line)}\n`);
}

/** Writes lines of another program as they are, in place of the progress until its next frame. */
export function writeLines(lines: string, stream: "stdout" | "stderr"): void {
  if (hasColours(process.stderr)) process.stderr.write(CLEAR_LINE);
  process[stream].write(lines);
}

/** Checks whether a user can be prompted. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * Prompts for an answer, and returns it trimmed; `atEnd` at the end of input.
 *
 * @throws {Interruption} at Ctrl-C
 * @throws {CliError} at the end of input without `atEnd`
 */
export async function ask(
  question: string,
  { atEnd }: { readonly atEnd?: string } = {},
): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("SIGINT", () => reject(new Interruption("SIGINT")));
      lines.once("close", () => {
        if (atEnd !== undefined) return resolve(atEnd);
        reject(new CliError("Cannot read the answer: the input has ended"));
      });
      lines.question(`${paint("bold", question)} `).then(
        (answer) => resolve(answer.trim()),
        reject,
      );
    });
  } finally {
    lines.close();
  }
}

/**
 * Runs work. On a terminal, its progress is shown after half a second: animated and removed at the
 * end, or as a line where there are no escape codes.
 */
export async function withProgress<T>(doing: string, work: () => Promise<T>): Promise<T> {
  if (process.stderr.isTTY !== true) return await work();
  const isMoving = hasColours(process.stderr);
  let frame = 0;
  const draw = () => {
    const sign = paintError("cyan", FRAMES[frame++ % FRAMES.length] ?? "");
    process.stderr.write(`${CLEAR_LINE}${sign} ${doing}`);
  };
  let timer = setTimeout(() => {
    if (!isMoving) return printError(`${doing} …`);
    draw();
    timer = setInterval(draw, FRAME_MS);
  }, PROGRESS_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer); // clears an interval too
    if (frame > 0) process.stderr.write(CLEAR_LINE);
  }
}

/**
 * Checks whether a stream is a terminal with colours, and `NO_COLOR` is not set
 * (https://no-color.org).
 */
export function hasColours(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true && !readVariable("NO_COLOR") && readVariable("TERM") !== "dumb";
}

/** Formats rows as a table, with an optional heading. */
export function table(
  rows: readonly (readonly string[])[],
  { heading }: { readonly heading?: readonly string[] } = {},
): string {
  const all = heading ? [heading.map((title) => paint("bold", title)), ...rows] : rows;
  const widths = (all[0] ?? []).map((_, column) =>
    Math.max(...all.map((row) => widthOf(row[column] ?? "")))
  );
  const lines = all.map((row) =>
    row.map((cell, column) => pad(cell, widths[column] ?? 0)).join("  ")
  );
  return lines.map((line) => line.trimEnd()).join("\n");
}

/** Returns a number with a noun: `1 route`, `2 routes`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function painted(
  stream: { readonly isTTY?: boolean },
  { style, text }: { readonly style: Style; readonly text: string },
): string {
  if (!hasColours(stream)) return printable(text);
  const [begin, end] = STYLES[style];
  return `\x1b[${begin}m${printable(text)}\x1b[${end}m`;
}

/** An escape code that begins or ends a style. */
const STYLE = new RegExp(`(\x1b\\[(?:${Object.values(STYLES).flat().join("|")})m)`);

function shown(line: string): string {
  return line.split(STYLE).map((part) => STYLE.test(part) ? part : printable(part)).join("");
}

/** Reads a variable of the environment; without the permission to, it is `undefined`. */
function readVariable(name: string): string | undefined {
  try {
    return process.env[name];
  } catch {
    return undefined;
  }
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(width - widthOf(cell));
}

/** Escape codes have no width. */
function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length;
}
