/**
 * A process that reads two variables and prints them.
 *
 * @module
 */
import * as v from "valibot";
import { environment } from "../../src/runtime/environment.ts";
import { portFromEnv } from "../../src/platform/env.ts";

const env = environment(v.object({ PORT: v.string(), FW_ENV: v.optional(v.string(), "none") }));
console.log(JSON.stringify({ ...env, port: portFromEnv() }));
