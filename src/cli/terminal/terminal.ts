/**
 * The terminal: what is printed, in colours where they are wanted, and asked.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { stripVTControlCharacters } from "node:util";
import { Interruption } from "./cli_error.ts";

/** A style of text, as the escape codes that begin and end it (ECMA-48 §8.3.117). */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** How text can be shown. */
export type Style = keyof typeof STYLES;

/** Gives text a style, where the stream it is for shows colours. */
export type Paint = (style: Style, text: string) => string;

/** How long something may take before its progress is shown, in milliseconds. */
const PROGRESS_AFTER_MS = 500;
const FRAME_MS = 80;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const CLEAR_LINE = "\r\x1b[K";

/** Styles text for stdout. */
export const paint: Paint = (style, text) =>
  hasColours(process.stdout) ? styled(style, text) : text;

/** Styles text for stderr. */
export const paintError: Paint = (style, text) =>
  hasColours(process.stderr) ? styled(style, text) : text;

/** Prints a line on stdout. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a line on stderr. */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Tells whether somebody is there to be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/**
 * Asks a question, and gives the answer without the space around it; empty at the end of input.
 *
 * @throws {Interruption} at Ctrl-C
 */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("SIGINT", () => reject(new Interruption("SIGINT")));
      lines.once("close", () => resolve(""));
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
 * Does something; on a terminal, what it is doing is shown once it takes over half a second: moving,
 * and taken away at the end, or where there are no escape codes as a line.
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
    clearTimeout(timer); // of an interval, too
    if (frame > 0) process.stderr.write(CLEAR_LINE);
  }
}

/** Colours are for terminals, and never where `NO_COLOR` is set (https://no-color.org). */
export function hasColours(stream: { readonly isTTY?: boolean }): boolean {
  return stream.isTTY === true && !readVariable("NO_COLOR") && readVariable("TERM") !== "dumb";
}

function styled(style: Style, text: string): string {
  const [begin, end] = STYLES[style];
  return `\x1b[${begin}m${text}\x1b[${end}m`;
}

/** Reads a variable of the environment; one that may not be read is not set. */
function readVariable(name: string): string | undefined {
  try {
    return process.env[name];
  } catch {
    return undefined;
  }
}

/** Writes rows, below a heading if there is one; the columns are as wide as what is in them. */
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

function pad(cell: string, width: number): string {
  return cell + " ".repeat(width - widthOf(cell));
}

/** Colours take no room. */
function widthOf(cell: string): number {
  return stripVTControlCharacters(cell).length;
}
