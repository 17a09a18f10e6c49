import assert from "node:assert/strict";
import {
  boundedStream,
  readBounded,
  StreamTooLongError,
} from "../../src/platform/bounded_stream.ts";
import { test } from "../support/test.ts";

/** A stream of chunks, and the reasons for which it was cancelled. */
function sourceOf(...chunks: readonly (readonly number[])[]): {
  readonly stream: ReadableStream<Uint8Array>;
  readonly cancelled: unknown[];
} {
  const cancelled: unknown[] = [];
  const rest = chunks.map((bytes) => Uint8Array.from(bytes));
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = rest.shift();
      return chunk ? controller.enqueue(chunk) : controller.close();
    },
    cancel: (reason) => void cancelled.push(reason),
  }, { highWaterMark: 0 });
  return { stream, cancelled };
}

test("readBounded() reads text whose characters are split between chunks, up to the limit", async () => {
  const { stream, cancelled } = sourceOf([0x61, 0xc3], [0xbc], [0x62]);
  assert.equal(await readBounded(stream, 4), "aüb");
  assert.deepEqual(cancelled, []);
});

/** Parts that are too large to be joined. */
const LARGE = Array(5_000).fill(1);

test("readBounded() fails at one byte more, and cancels the source", async () => {
  const { stream, cancelled } = sourceOf(LARGE, LARGE, LARGE);
  await assert.rejects(readBounded(stream, 5_000), {
    name: "StreamTooLongError",
    message: "The stream has more than 5000 bytes",
  });
  assert.deepEqual(cancelled, [undefined]);
});

test("boundedStream() passes chunks within the limit, then calls onExceeded and fails", async () => {
  const { stream, cancelled } = sourceOf(LARGE, LARGE, LARGE);
  let exceeded = 0;
  const reader = boundedStream(stream, 10_000, { onExceeded: () => exceeded++ }).getReader();
  for (const _ of [1, 2]) assert.deepEqual([...(await reader.read()).value ?? []], LARGE);
  await assert.rejects(reader.read(), StreamTooLongError);
  assert.deepEqual([exceeded, cancelled], [1, [undefined]]);
});

test("boundedStream() cancels its source with the same reason, and fails with its error", async () => {
  const { stream, cancelled } = sourceOf([1], [2]);
  await boundedStream(stream, 9).cancel("no longer needed");
  assert.deepEqual(cancelled, ["no longer needed"]);
  const broken = new ReadableStream<Uint8Array>({
    pull: () => Promise.reject(new TypeError("The connection was lost")),
  });
  await assert.rejects(readBounded(broken, 9), { message: "The connection was lost" });
});

test("boundedStream() keeps no buffer that is larger than what was read of it", async () => {
  const large = new Uint8Array(65_536).subarray(0, 1);
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(large);
      controller.close();
    },
  });
  const { value } = await boundedStream(source, 10).getReader().read();
  assert.equal(value?.buffer.byteLength, 1);
});

test("boundedStream() fails like its wait, which knows the bytes before, and cancels", async () => {
  const { stream, cancelled } = sourceOf(LARGE, LARGE, LARGE, LARGE);
  const before: number[] = [];
  const bounded = boundedStream(stream, 50_000, {
    wait(read, bytes) {
      before.push(bytes);
      return bytes < 10_000 ? read : Promise.reject(new Error("too slow"));
    },
  });
  const reader = bounded.getReader();
  await reader.read();
  await reader.read();
  await assert.rejects(reader.read(), { message: "too slow" });
  assert.deepEqual([before, cancelled.length], [[0, 5_000, 10_000], 1]);
});

test("boundedStream() joins small parts that arrive together, and waits once for them", async () => {
  const parts = Array.from({ length: 50_000 }, (_, i) => [i % 256]);
  let waits = 0;
  const bounded = boundedStream(sourceOf(...parts).stream, 50_000, {
    wait(read) {
      waits++;
      return read;
    },
  });
  const joined: Uint8Array[] = [];
  for await (const part of bounded) joined.push(part);
  assert.deepEqual(joined.flatMap((part) => [...part]), parts.flat());
  assert.ok(waits < 1_000, `${waits} waits`);
});

test("boundedStream() passes a part on although the next one is late, or fails", async () => {
  const late = Promise.withResolvers<void>();
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Uint8Array.of(1)),
    pull: () => late.promise,
  }, { highWaterMark: 0 });
  const reader = boundedStream(source, 10).getReader();
  assert.deepEqual([...(await reader.read()).value ?? []], [1]);
  late.reject(new Error("late"));
  await assert.rejects(reader.read(), { message: "late" });
});
