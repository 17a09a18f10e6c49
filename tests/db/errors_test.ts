import assert from "node:assert/strict";
import { HttpException } from "../../mod.ts";
import { DbError, type DbErrorCode } from "../../src/db/mod.ts";
import { test } from "../support/test.ts";

test("HttpException.from() uses the status and the message of each DbError", () => {
  const statuses: Record<DbErrorCode, number> = {
    RowNotFound: 404,
    UniqueViolation: 409,
    ForeignKeyViolation: 409,
    NotNullViolation: 422,
    CheckViolation: 422,
    InvalidCursor: 400,
    SerializationFailure: 409,
    Conflict: 409,
    StatementTimeout: 503,
    PoolTimeout: 503,
    PoolClosed: 503,
    ConnectionLost: 503,
    DiskFull: 503,
    ReadOnly: 503,
    Database: 500,
  };
  for (const [code, status] of Object.entries(statuses)) {
    const error = new DbError(code as DbErrorCode, "Cannot read users: so it is");
    const exception = HttpException.from(error);
    assert.deepEqual(
      [exception.status, exception.message, exception.cause],
      [status, "Cannot read users: so it is", error],
    );
  }
});

test("DbError carries the columns at fault and its cause", () => {
  const cause = new Error("driver");
  const error = new DbError("UniqueViolation", "taken", { fields: ["email"], cause });
  assert.deepEqual([error.name, error.fields, error.cause], ["DbError", ["email"], cause]);
  assert.deepEqual(new DbError("Database", "").fields, []);
  assert.equal("cause" in new DbError("Database", ""), false);
});
