import { type } from "arktype";
import assert from "node:assert/strict";
import { inspect } from "node:util";
import * as v from "valibot";
import * as z from "zod";
import type { AnySchema } from "../../src/core/schema/validation.ts";
import { environment, EnvironmentError } from "../../src/runtime/environment.ts";
import { test } from "../support/test.ts";
import { Subprocess } from "../support/subprocess.ts";

const SECRET = "hunter2-is-a-secret";

test("environment() returns the typed output of the schema", () => {
  const schema = v.object({
    PORT: v.pipe(v.string(), v.toNumber(), v.integer()),
    LOG_LEVEL: v.optional(v.picklist(["debug", "info"]), "info"),
  });
  const env: { PORT: number; LOG_LEVEL: "debug" | "info" } = environment(schema, {
    source: { PORT: "8080", UNRELATED: "x" },
  });

  assert.deepEqual(env, { PORT: 8080, LOG_LEVEL: "info" });
});

test("environment() lists all issues in one error", () => {
  const schema = v.object({
    DATABASE_URL: v.string(),
    PORT: v.pipe(v.string(), v.digits("It must be a port")),
    FW_ENV: v.picklist(["development", "production"]),
  });
  const error = errorOf(schema, { PORT: "http", FW_ENV: "staging" });

  assert.equal(error.code, "InvalidEnvironment");
  assert.deepEqual(error.issues, [
    { variable: "DATABASE_URL", message: "It is not set" },
    { variable: "PORT", message: "It must be a port" },
    { variable: "FW_ENV", message: `Invalid type: Expected ("development" | "production")` },
  ]);
  assert.equal(
    error.message,
    `Cannot use the environment: it does not satisfy its schema
  DATABASE_URL: It is not set
  PORT: It must be a port
  FW_ENV: Invalid type: Expected ("development" | "production")`,
  );
});

test("environment() shows no value, neither before nor after a transformation", () => {
  const list = v.pipe(v.string(), v.transform((text) => text.split(",")));
  const schemas: Record<string, AnySchema> = {
    "valibot url": v.object({ A: v.pipe(v.string(), v.url()) }),
    "valibot number": v.object({ A: v.number() }),
    "valibot list": v.object({ A: v.pipe(list, v.array(v.picklist(["x"]))) }),
    "valibot message": v.object({ A: v.number(({ input }) => `This is wrong: ${input}`) }),
    "valibot whole": v.pipe(v.any(), v.check(() => false)),
    "zod number": z.object({ A: z.number() }),
    "zod enum": z.object({ A: z.enum(["x", "y"]) }),
    "arktype enum": type({ A: "'x' | 'y'" }),
    "arktype number": type({ A: "string.numeric.parse" }),
    "arktype trimmed": type({ A: "string.trim |> string.url" }),
    "valibot trimmed": v.object({
      A: v.pipe(v.string(), v.trim(), v.url(({ input }) => `${input} is not a URL`)),
    }),
  };
  for (const [name, schema] of Object.entries(schemas)) {
    const error = errorOf(schema, { A: ` a,${SECRET} ` });
    const shown = `${error.message}${error.stack}${JSON.stringify(error)}${inspect(error)}`;
    assert.ok(!shown.includes("hunter2"), `${name}: ${shown}`);
    assert.ok(error.issues.every(({ message }) => message !== ""), name);
  }
});

test("environment() shows no value in a message about several variables", () => {
  const pem = `-----BEGIN-----\n${SECRET}\n-----END-----`;
  const whole = v.object({ A: v.string(), B: v.string() });
  const messages: Record<string, (input: Record<string, string>) => string> = {
    "Invalid value": JSON.stringify,
    "Either is enough": () => "Either is enough",
  };
  for (const [message, messageOf] of Object.entries(messages)) {
    const schemas: readonly AnySchema[] = [
      v.pipe(whole, v.check(() => false, ({ input }) => messageOf(input))),
      v.pipe(v.looseObject({}), v.check(() => false, ({ input }) => messageOf(input as never))),
      z.object({ A: z.string(), B: z.string() }).refine(() => false, {
        error: ({ input }) => messageOf(input as Record<string, string>),
      }),
    ];
    for (const schema of schemas) {
      for (const source of [{ A: SECRET, B: "b" }, { A: "a", B: pem }]) {
        assert.deepEqual(errorOf(schema, source).issues, [{ variable: "", message }]);
      }
    }
  }
});

test("environment() shows no such message where it cannot read all variables", () => {
  const denied = () => {
    throw new Error("Requires env access"); // as of Deno for some of the variables
  };
  const source = new Proxy({ A: SECRET }, { ownKeys: denied });
  const schema = v.pipe(v.object({ A: v.string() }), v.check(() => false, "Either is enough"));
  assert.deepEqual(errorOf(schema, source).issues, [{ variable: "", message: "Invalid value" }]);
});

test("environment() shows no value of a transformation that throws", () => {
  const conversions: readonly ((text: string) => unknown)[] = [(text) => new URL(text), BigInt];
  for (const convert of conversions) {
    const schema = v.object({ URL: v.pipe(v.string(), v.transform(convert)) });
    assert.throws(() => environment(schema, { source: { URL: SECRET } }), (error) => {
      assert.ok(error instanceof EnvironmentError);
      assert.deepEqual(error.issues, [{ variable: "", message: "A value cannot be converted" }]);
      assert.ok(!inspect(error, { depth: Infinity }).includes(SECRET));
      return true;
    });
  }
});

test("environment() refuses what is not a schema", () => {
  for (const value of [undefined, {}, { PORT: v.string() }]) {
    assert.throws(() => environment(value as never), {
      name: "TypeError",
      message: "Cannot read the environment: the schema is not a Standard Schema",
    });
  }
});

test("environment() refuses a schema that validates asynchronously", () => {
  const schema = v.objectAsync({
    A: v.pipeAsync(v.string(), v.checkAsync(() => Promise.reject())),
  });
  assert.throws(() => environment(schema, { source: { A: "a" } }), {
    name: "TypeError",
    message: "Cannot read the environment: its schema validates asynchronously",
  });
});

test("environment() and portFromEnv() read only their variables", async () => {
  await using child = new Subprocess("tests/runtime/environment_fixture.ts", {
    permissions: ["--allow-env=PORT,FW_ENV"],
    env: { PORT: "8080" },
  });
  const { code, output } = await child.ended;

  assert.deepEqual([code, output], [0, `{"PORT":"8080","FW_ENV":"none","port":8080}\n`]);
});

function errorOf(schema: AnySchema, source: Record<string, string>): EnvironmentError {
  try {
    environment(schema, { source });
  } catch (error) {
    assert.ok(error instanceof EnvironmentError);
    return error;
  }
  throw new Error("The environment was accepted");
}
