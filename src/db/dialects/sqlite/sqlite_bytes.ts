/**
 * Bytes as `node:sqlite` is given them.
 *
 * @module
 */

/**
 * Gives bytes that are stored as bytes: Node 22.21 takes empty ones for NULL whose buffer has no memory.
 */
export function storableBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? new Uint8Array(1).subarray(1) : bytes;
}
