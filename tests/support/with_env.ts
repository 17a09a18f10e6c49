/** Runs a test with a variable of the process environment set, or unset, and restores it. */
import process from "node:process";

export async function withEnv(
  name: string,
  value: string | undefined,
  body: () => void | Promise<void>,
): Promise<void> {
  const before = process.env;
  // another object, as other isolates of the process have the same variables
  process.env = { ...before };
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
  try {
    await body();
  } finally {
    process.env = before;
  }
}
