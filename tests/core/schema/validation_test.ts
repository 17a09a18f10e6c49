import { type } from "arktype";
import assert from "node:assert/strict";
import fc from "fast-check";
import * as v from "valibot";
import * as z from "zod";
import { type AnySchema, HttpException } from "../../../mod.ts";
import {
  InputSchema,
  issuesOf,
  validateNow,
  withoutValue,
} from "../../../src/core/schema/validation.ts";
import { test } from "../../support/test.ts";

const SECRET = "hunter2-is-no-number";

for (
  const { library, schema, issues } of [
    {
      library: "valibot",
      schema: v.object({
        age: v.number(),
        mail: v.pipe(v.string(), v.email()),
        tags: v.array(v.object({ name: v.pipe(v.string(), v.maxLength(3)) })),
      }),
      issues: [
        { in: "body", field: "age", message: "Invalid type: Expected number" },
        { in: "body", field: "mail", message: "Invalid email" },
        {
          in: "body",
          field: "tags.0.name",
          message: "Invalid length: Expected <=3",
        },
      ],
    },
    {
      library: "zod",
      schema: z.object({
        age: z.number(),
        mail: z.email(),
        tags: z.array(z.object({ name: z.string().max(3) })),
      }),
      issues: [
        { in: "body", field: "age", message: "Invalid input: expected number" },
        { in: "body", field: "mail", message: "Invalid email address" },
        {
          in: "body",
          field: "tags.0.name",
          message: "Too big: expected string to have <=3 characters",
        },
      ],
    },
    {
      library: "arktype",
      schema: type({
        age: "number",
        mail: "string.email",
        tags: type({ name: "string<=3" }).array(),
      }),
      issues: [
        { in: "body", field: "age", message: "must be a number" },
        { in: "body", field: "mail", message: "must be an email address" },
        {
          in: "body",
          field: "tags.0.name",
          message: "must be at most length 3",
        },
      ],
    },
  ] satisfies { library: string; schema: AnySchema; issues: unknown[] }[]
) {
  test(`InputSchema.parse() reports what ${library} refuses, and never the value`, async () => {
    const value = { age: SECRET, mail: SECRET, tags: [{ name: SECRET }] };
    await assert.rejects(
      new InputSchema<AnySchema>("body", schema).parse(value),
      (error: HttpException) => {
        assert.equal(error.status, 422);
        assert.deepEqual(error.errors, issues);
        return true;
      },
    );
  });
}

test("InputSchema.parse() awaits an asynchronous schema", async () => {
  const taken = v.pipeAsync(
    v.string(),
    v.checkAsync((name) => Promise.resolve(name !== "tom"), "Taken"),
  );
  assert.equal(await new InputSchema("body", taken).parse("kim"), "kim");
  await assert.rejects(new InputSchema("body", taken).parse("tom"), (error: HttpException) => {
    assert.deepEqual(error.errors, [{ in: "body", field: "", message: "Taken" }]);
    return true;
  });
});

test("InputSchema.validate() waits for a thenable that is not a Promise", async () => {
  const lazy: AnySchema = {
    "~standard": {
      version: 1,
      vendor: "lazy",
      validate: (value) =>
        ({
          then: (resolve: (result: unknown) => void) =>
            resolve(value === "kim" ? { value } : { issues: [{ message: "Taken" }] }),
        }) as never,
    },
  };
  const { refusal } = await new InputSchema("body", lazy).validate("tom");
  assert.deepEqual(refusal?.issues, [{ in: "body", field: "", message: "Taken" }]);
  assert.equal(await new InputSchema("body", lazy).parse("kim"), "kim");
  assert.equal(validateNow(lazy, "tom"), undefined);
});

test("withoutValue() removes quotations, replaces messages that still contain the value, and keeps the rest", () => {
  for (
    const [message, value, expected] of [
      ['Invalid type: Expected number but received "abc"', "abc", "Invalid type: Expected number"],
      ['Invalid email: Received "a"b"', 'a"b', "Invalid email"],
      ['Invalid email: Received "hunter2secret"', " HunTer2secret ", "Invalid email"],
      ['Invalid email: Received "a\nb"', "a\nb", "Invalid email"],
      ["Invalid input: expected string, received number", 5, "Invalid input: expected string"],
      ["Invalid value: Expected >0 but received -5", -5, "Invalid value: Expected >0"],
      ["Expected false but received true", true, "Expected false"],
      ["Invalid type: Expected Object but received null", null, "Invalid type: Expected Object"],
      ["secret is not good enough", "secret", "Invalid value"],
      ["secret is not good enough", " secret\n", "Invalid value"],
      ["ab is too short", " ab ", undefined],
      ['"se\\"cret" is not good enough', 'se"cret', "Invalid value"],
      ["Expected small, medium or large", "med", undefined],
      ["At least 1000 cats", 100, undefined],
      ["We, received a bad value; try again", "x", undefined],
      ["Required", undefined, undefined],
      ["Too short", "", undefined],
    ] as const
  ) assert.equal(withoutValue(message, value), expected ?? message);
});

/** Values of 200 000 characters, of which regular expressions would be too large. */
const LONG_VALUES = ["x".repeat(200_000), "\\(".repeat(100_000), "x y ".repeat(50_000)];

test("withoutValue() leaves a message that is shorter than the value, however long that is", () => {
  for (const value of LONG_VALUES) {
    for (const message of ["Too long", "Invalid length: Expected <=3", "x", ""]) {
      assert.equal(withoutValue(message, value), message);
    }
    const quoting = `Invalid length: Expected <=3 but received ${JSON.stringify(value)}`;
    assert.equal(withoutValue(quoting, value), "Invalid length: Expected <=3");
  }
});

test("withoutValue() replaces a message that contains the value, however long that is", () => {
  for (const value of LONG_VALUES) {
    for (const message of [`No ${value}, please`, `No ${JSON.stringify(value)} here`, value]) {
      assert.equal(withoutValue(message, value), "Invalid value");
    }
  }
});

test("issuesOf() never lets a string of three characters or more through", () => {
  const schemas: readonly AnySchema[] = [
    v.object({ x: v.pipe(v.string(), v.regex(/^$/)) }),
    v.object({ x: v.picklist(["a", "b"]) }),
    v.object({ x: v.number() }),
    v.object({ x: v.pipe(v.string(), v.check(() => false, ({ input }) => `No ${input}, please`)) }),
    z.object({ x: z.enum(["a", "b"]) }),
    type({ x: "string > 100 & /^$/" }),
    type({ x: "'a' | 'b'" }),
    type({ x: "string.json.parse" }),
  ];
  const free = issuesOf([{ message: "", path: [] }], { value: "", part: "body" });
  assert.equal(free.length, 1);
  fc.assert(fc.property(fc.string({ minLength: 3 }), fc.constantFrom(...schemas), (x, schema) => {
    const result = schema["~standard"].validate({ x }) as { issues?: [] };
    for (const { message } of issuesOf(result.issues ?? [], { value: { x }, part: "body" })) {
      const [before, after] = message.split(x, 2);
      const isTold = after !== undefined && !/\w$/.test(before!) && !/^\w/.test(after);
      assert.ok(!isTold || message === "Invalid value", message);
    }
  }));
});

test("issuesOf() reports what arktype expects, wherever it is", async () => {
  const schema = type({ p: type("string >= 8").and(/[0-9]/) });
  for (
    const [value, issue] of [
      [{ p: 'h"\\' }, {
        in: "body",
        field: "p",
        message: "must be matched by [0-9] and at least length 8",
      }],
      ["oops", { in: "body", field: "", message: "must be an object" }],
    ] as const
  ) {
    await assert.rejects(new InputSchema("body", schema).parse(value), (error: HttpException) => {
      assert.deepEqual(error.errors, [issue]);
      return true;
    });
  }
});

test("InputSchema.parse() lists at most 100 issues, each short", async () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => ["k".repeat(500) + i, i]));
  await assert.rejects(
    new InputSchema("query", v.record(v.string(), v.string())).parse(many),
    (error: HttpException) => {
      assert.equal(error.errors?.length, 100);
      assert.equal(error.errors[0]?.field.length, 256);
      return true;
    },
  );
});

test("InputSchema.parse() does not report a value that a schema transformed before it refused it", async () => {
  for (
    const schema of [
      v.pipe(v.string(), v.trim(), v.toLowerCase(), v.email()),
      v.pipe(
        v.string(),
        v.transform((text) => text.trim().split(",")),
        v.array(v.pipe(v.string(), v.uuid())),
      ),
      v.pipe(
        v.string(),
        v.transform((): unknown => ({ pw: "hunter2-secret" })),
        v.object({ pw: v.number() }),
      ),
    ]
  ) {
    await assert.rejects(
      new InputSchema<AnySchema>("body", schema).parse(" HUNTER2-secret "),
      (error: HttpException) => {
        assert.doesNotMatch(JSON.stringify(error.errors), /hunter2/i);
        return true;
      },
    );
  }
});

const QUERIES: readonly (readonly [library: string, schema: AnySchema])[] = [
  [
    "valibot",
    v.object({ tag: v.array(v.pipe(v.string(), v.minLength(2))), page: v.picklist(["1"]) }),
  ],
  ["zod", z.object({ tag: z.array(z.string().min(2)), page: z.enum(["1"]) })],
  ["arktype", type({ tag: "(string>=2)[]", page: "'1'" })],
  [
    "an asynchronous schema",
    v.objectAsync({
      tag: v.pipeAsync(v.array(v.pipe(v.string(), v.minLength(2))), v.checkAsync(() => true)),
      page: v.picklist(["1"]),
    }),
  ],
];
for (const [library, schema] of QUERIES) {
  test(`InputSchema accepts one value of a query as a list of one, by ${library}`, async () => {
    const query = new InputSchema("query", schema);
    const parse = (value: unknown) => Promise.resolve(query.parse(value));
    const fields = (value: unknown) =>
      parse(value).then(
        () => [],
        ({ errors }: HttpException) => errors?.map(({ field }) => field),
      );
    assert.deepEqual(await parse({ tag: "ab", page: "1" }), { tag: ["ab"], page: "1" });
    assert.deepEqual(await parse({ tag: ["ab", "cd"], page: "1" }), {
      tag: ["ab", "cd"],
      page: "1",
    });
    // issues are reported for the list, and for the field that is not a list
    assert.deepEqual(await fields({ tag: "ab", page: "2" }), ["page"]);
    assert.deepEqual((await fields({ page: "2" }))?.toSorted(), ["page", "tag"]);
    assert.deepEqual(await fields({ tag: ["a"], page: "1" }), ["tag.0"]);
    await assert.rejects(parse({ tag: "a", page: "1" }));
    // in a body, a list is a list
    await assert.rejects(new InputSchema("body", schema).parse({ tag: "ab", page: "1" }));
  });
}

test("InputSchema accepts no array for an object, by valibot", async () => {
  const objects = [
    v.object({ a: v.optional(v.string()) }),
    v.looseObject({}),
    v.record(v.string(), v.unknown()),
  ];
  for (const schema of objects) {
    await assert.rejects(new InputSchema("body", schema).parse([]), {
      errors: [{ in: "body", field: "", message: "Invalid type: Expected Object" }],
    });
    assert.deepEqual(await new InputSchema("body", schema).parse({}), {});
  }
  const toObject = v.pipe(v.array(v.string()), v.transform((list) => ({ list })));
  assert.deepEqual(await new InputSchema("body", toObject).parse(["a"]), { list: ["a"] });
});

const MANY: Readonly<Record<string, AnySchema>> = {
  "zod's tuple": z.object({ x: z.tuple([z.string()]).rest(z.string()) }),
  "zod's union of lists": z.object({ x: z.array(z.literal("1")).or(z.array(z.literal("2"))) }),
  "valibot's union with a list": v.object({ x: v.union([v.array(v.string()), v.number()]) }),
  "arktype's union with a list": type({ x: "string[] | null" }),
};
for (const [what, schema] of Object.entries(MANY)) {
  test(`InputSchema accepts one value of a query as a list of one, by ${what}`, async () => {
    const query = new InputSchema("query", schema);
    assert.deepEqual(await query.parse({ x: "1" }), { x: ["1"] });
  });
}

const BRANCHES: Readonly<Record<string, AnySchema>> = {
  valibot: v.union([
    v.object({ k: v.literal("a"), tag: v.array(v.string()), x: v.string() }),
    v.object({ k: v.literal("b"), x: v.array(v.string()) }),
    v.union([v.object({ k: v.literal("c"), tag: v.array(v.string()), x: v.array(v.string()) })]),
  ]),
  zod: z.union([
    z.object({ k: z.literal("a"), tag: z.array(z.string()), x: z.string() }),
    z.object({ k: z.literal("b"), x: z.array(z.string()) }),
    z.union([z.object({ k: z.literal("c"), tag: z.array(z.string()), x: z.array(z.string()) })]),
  ]),
};
for (const [library, schema] of Object.entries(BRANCHES)) {
  test(`InputSchema accepts one value of a query as a list of one in a union of objects, by ${library}`, async () => {
    const query = new InputSchema("query", schema);
    const cases = [
      [{ k: "a", tag: "t", x: "1" }, { k: "a", tag: ["t"], x: "1" }],
      [{ k: "b", x: "1" }, { k: "b", x: ["1"] }],
      [{ k: "c", tag: "t", x: "1" }, { k: "c", tag: ["t"], x: ["1"] }],
    ];
    for (const [sent, read] of cases) assert.deepEqual(await query.parse(sent), read);
    await assert.rejects(query.parse({ k: "d", tag: "t", x: "1" }));
  });
}

test("InputSchema refuses keys of Object.prototype over which arktype fails", async () => {
  const record = type({ "[string]": "string" }).or("string[]");
  for (
    const [schema, value] of [[record, { constructor: {} }], [type({ "toString?": "boolean" }), {}]]
  ) {
    for (const part of ["body", "query"] as const) {
      await assert.rejects(new InputSchema(part, schema as AnySchema).parse(value), (error) => {
        assert(error instanceof HttpException);
        assert.deepEqual([error.status, error.errors?.[0]?.message], [422, "must be valid"]);
        return true;
      });
    }
  }
});

test("InputSchema makes no list of a field that is refused for another reason", async () => {
  const refusing = [
    v.object({ f: v.custom<string>((value) => value !== "secret") }),
    v.object({ f: v.union([v.pipe(v.string(), v.maxLength(3)), v.array(v.string())]) }),
    z.object({ f: z.any().refine((value) => value !== "secret") }),
  ];
  for (const [i, schema] of refusing.entries()) {
    await assert.rejects(new InputSchema("query", schema).parse({ f: "secret" }), `schema ${i}`);
  }
});

test("InputSchema makes no list of thousands of refused fields, in little time", async () => {
  const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, "x"]));
  const schema = v.record(v.string(), v.number());
  let validated = 0;
  const counting: AnySchema = {
    "~standard": {
      ...schema["~standard"],
      validate: (value) => (validated += 1, schema["~standard"].validate(value)),
    },
  };
  await assert.rejects(new InputSchema("query", counting).parse(fields));
  assert.equal(validated, 1);
});

test("InputSchema accepts no array for an object of valibot that is wrapped", async () => {
  const one = v.object({ a: v.optional(v.string()) });
  const wrapped = [v.optional(one), v.nullable(one), v.union([one, v.looseObject({})])];
  for (const schema of [...wrapped, v.intersect([one, v.object({})])]) {
    await assert.rejects(new InputSchema("body", schema).parse([]));
  }
  const either = v.union([one, v.array(v.string())]);
  assert.ok(await new InputSchema("body", either).parse(["a"]));
});
