/** Spellings of a path: as it is declared, and as a proxy or an attacker may write it. */

/** A spelling. */
export interface Spelling {
  readonly name: string;
  /** Writes the path. */
  spell(path: string): string;
  /** Returns the path that it means; the same by default. */
  means?(path: string): string;
  /** Whether it is invalid, or differs among runtimes: then 400 and 404 are expected too. */
  readonly isOdd?: boolean;
}

/** The spellings. */
export const SPELLINGS: readonly Spelling[] = [
  { name: "as declared", spell: (path) => path },
  { name: "with a query", spell: (path) => `${path}?a=/open&b=%2F` },
  { name: "a slash at the end", spell: (path) => `${path}/` },
  { name: "a percent-encoded letter", spell: (path) => encodeAt(path, 1) },
  { name: "all letters percent-encoded", spell: (path) => path.replace(/\w/g, percent) },
  { name: "the last letter percent-encoded", spell: (path) => encodeAt(path, path.length - 1) },
  { name: "upper case", spell: (path) => path.toUpperCase(), means: (path) => path.toUpperCase() },
  { name: "two slashes at the front", ...literal((path) => `/${path}`) },
  { name: "two slashes inside", ...literal((path) => path.replace(/(?<=\w)\//, "//")) },
  { name: "two slashes at the end", ...literal((path) => `${path}//`) },
  { name: "twice percent-encoded", ...literal((path) => encodeAt(path, 1).replace("%", "%25")) },
  { name: "an encoded slash", ...literal((path) => path.replace(/(?<=\w)\//, "%2F")) },
  { name: "a null at the end", ...literal((path) => `${path}%00`) },
  { name: "a semicolon at the end", ...literal((path) => `${path};a=b`) },
  { name: "an overlong slash", ...literal((path) => path.replace(/^\//, "/%c0%af")) },
  { name: "a backslash at the front", isOdd: true, spell: (path) => `/\\${path.slice(1)}` },
  { name: "a dot segment", isOdd: true, spell: (path) => `/.${path}` },
  { name: "a dot segment up", isOdd: true, spell: (path) => `/open/..${path}` },
  { name: "an encoded dot segment up", isOdd: true, spell: (path) => `/open/%2e%2e${path}` },
];

/** A spelling that is a path of its own: nothing in it is resolved. */
function literal(spell: (path: string) => string): Omit<Spelling, "name"> {
  return { spell, means: spell };
}

function encodeAt(path: string, at: number): string {
  return path.slice(0, at) + percent(path[at] ?? "") + path.slice(at + 1);
}

function percent(letter: string): string {
  return letter === "" ? "" : `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
