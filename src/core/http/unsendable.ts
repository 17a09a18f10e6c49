/**
 * Why the result of a handler cannot be sent as JSON. It is loaded by the first such result.
 *
 * @module
 */

/** Returns the error for a value that JSON lacks; `cause` is the error of `JSON.stringify`. */
export function unsendable(data: unknown, cause: unknown): unknown {
  const path = cause === undefined ? undefined : pathOfBigint(data);
  if (path !== undefined) {
    return new TypeError(
      `Cannot send the response: ${path || "it"} is a bigint, which JSON lacks; ` +
        "convert it, as String(value), v.pipe(v.bigint(), v.toString()) and " +
        "z.bigint().transform(String) do",
      { cause },
    );
  }
  if (data instanceof Error) {
    const reason = "it is returned, not thrown";
    return new TypeError(`Cannot send ${withArticle(data.name)}: ${reason}`, { cause: data });
  }
  return cause ?? new TypeError(`Cannot send ${withArticle(typeName(data))}: it is not data`);
}

/** Returns the path of the first bigint; `undefined` without one, as in cyclic data. */
function pathOfBigint(data: unknown): string | undefined {
  const paths = new Map<unknown, string>();
  let found: string | undefined;
  try {
    JSON.stringify(data, function (this: unknown, key: string, value: unknown): unknown {
      const parent = paths.get(this);
      const path = parent ? `${parent}.${key}` : key;
      if (typeof value === "object") paths.set(value, path);
      if (typeof value === "bigint") found ??= path;
      return typeof value === "bigint" ? undefined : value;
    });
  } catch {
    return undefined; // the cause reports it
  }
  return found;
}

function typeName(data: unknown): string {
  return typeof data === "object" ? Object.prototype.toString.call(data).slice(8, -1) : typeof data;
}

function withArticle(name: string): string {
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
}
