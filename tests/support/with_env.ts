/** Runs a test with a variable of the process environment set, or unset, and restores it. */
import process from "node:process";

export async function withEnv(
  name: string,
  value: string | undefined,
  body: () => void | Promise<void>,
): Promise<void> {
  const before = process.env[name];
  set(name, value);
  try {
    await body();
  } finally {
    set(name, before);
  }
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
