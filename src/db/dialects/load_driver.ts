/**
 * Drivers are packages that the application installs.
 *
 * @module
 */

/**
 * Loads the packages of a driver.
 *
 * @throws {TypeError} if they are not installed
 */
export async function loadDriver<T>(names: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new TypeError(`Cannot load database driver: install ${names}`, { cause });
  }
}
