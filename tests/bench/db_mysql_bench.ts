/**
 * `findUnique` on MySQL or MariaDB beside the driver by hand, one call after the other.
 *
 * @module
 */
import mysql from "mysql2/promise";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { compare, printMachine } from "./compare.ts";
import { COLUMNS, idsInTurn, openDb, ROWS } from "./users.ts";

if (SERVERS.mysql.skip) console.log(`MySQL: ${SERVERS.mysql.skip}`);
else await bench();

async function bench(): Promise<void> {
  await using database = await createDatabase("mysql");
  await using db = await openDb(database.url, ROWS);
  const pool = mysql.createPool({ uri: database.url, connectionLimit: 10 });
  const nextId = idsInTurn();
  const query = `select ${COLUMNS.join(", ")} from users where id = ?`;
  const [[server]] = await pool.query<mysql.RowDataPacket[]>("select version() as version");
  printMachine(["kysely", "mysql2"], { server: String(server?.version) });
  await compare({
    title: "MySQL: findUnique by id, one after the other",
    peers: [
      { name: "fw", run: () => db.user.findUnique({ where: { id: nextId() } }) },
      { name: "mysql2", run: () => pool.execute(query, [nextId()]) },
    ],
    turnMs: 5,
    rounds: 151,
  });
  await pool.end();
}
