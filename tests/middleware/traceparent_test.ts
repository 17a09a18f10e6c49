import assert from "node:assert/strict";
import { parseTraceparent } from "../../src/middleware/traceparent.ts";
import { test } from "../support/test.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test("parseTraceparent() reads a header of W3C Trace Context §3.2", () => {
  const position = { traceId: TRACE, spanId: SPAN };
  const headers = {
    [`00-${TRACE}-${SPAN}-01`]: { ...position, traceFlags: 1 },
    [`00-${TRACE}-${SPAN}-00`]: { ...position, traceFlags: 0 },
    [`00-${TRACE}-${SPAN}-ff`]: { ...position, traceFlags: 1 },
    [`00-${TRACE}-${SPAN}-02`]: { ...position, traceFlags: 0 },
    [`cc-${TRACE}-${SPAN}-01`]: { ...position, traceFlags: 1 },
    [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be`]: { ...position, traceFlags: 1 },
  };
  for (const [header, expected] of Object.entries(headers)) {
    assert.deepEqual(parseTraceparent(header), expected);
  }
});

test("parseTraceparent() refuses anything malformed", () => {
  const headers = [
    undefined,
    "",
    "garbage",
    `ff-${TRACE}-${SPAN}-01`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN.toUpperCase()}-01`,
    `00-${TRACE}-${SPAN}-0A`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}0-${SPAN}-01`,
    `00-${TRACE}-${SPAN}0-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-extra`,
    `00-${TRACE}-${SPAN}-01-`,
    `cc-${TRACE}-${SPAN}-01.extra`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `00_${TRACE}_${SPAN}_01`,
  ];
  for (const header of headers) assert.equal(parseTraceparent(header), undefined, header);
});
