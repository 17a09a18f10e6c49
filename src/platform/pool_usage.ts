/**
 * How the connections of a pool are used, as one layer counts and another one publishes it.
 *
 * @module
 */

/** The connections of a pool. */
export interface PoolUsage {
  /** The name of the pool, such as `"db.example.com:5432/shop"`. */
  readonly name: string;
  /** The number of connections in use. */
  readonly used: number;
  /** The number of open connections that are not in use; `undefined` if the driver has them. */
  readonly idle: number | undefined;
  /** The number of operations that wait for a connection. */
  readonly waiting: number;
  /** The maximum number of connections. */
  readonly max: number;
}

/** What has a pool, such as a `DbService`. */
export interface PoolOwner {
  /** Returns how the connections of its pool are used. */
  poolUsage(): PoolUsage;
  /** Returns that of each pool, where there are several. */
  poolUsages?(): readonly PoolUsage[];
}
