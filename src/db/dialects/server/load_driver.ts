/**
 * Drivers are packages that the application installs.
 *
 * @module
 */

import { outlivesRequests } from "../../../platform/wait_until.ts";

/**
 * Loads the packages of a driver.
 *
 * @throws {TypeError} if they are not installed
 */
export async function loadDriver<T>(names: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const remedy = outlivesRequests()
      ? `install ${names}`
      : "bundles for the edge leave drivers out, so use DbOptions.fromDialect";
    throw new TypeError(`Cannot load database driver: ${remedy}`, { cause });
  }
}
