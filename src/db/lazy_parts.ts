/**
 * The parts that repositories load at their first use, which may be in a transaction. Deno loads
 * them when a database is opened: Deno 2.9 would begin the next requests in the context in which a
 * module is loaded, so in the transaction of another request.
 *
 * @module
 */
import "./query/aggregate.ts";
import "./query/few_or_many.ts";
import "./query/include_query.ts";
import "./query/pages/row_page.ts";
import "./query/pages/row_stream.ts";
import "./query/read_lock.ts";
import "./transaction/sql_span.ts";
import "./write/create_many.ts";
import "./write/hooked_writes.ts";
import "./write/nested/nested_writes.ts";
import "./write/update_many_and_return.ts";
import "./write/upsert.ts";
import "./write/upsert_many.ts";
