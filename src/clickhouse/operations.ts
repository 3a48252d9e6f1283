/** What operators asked for by commands, in the table `operations`: named numbers of which the newest counts. */
import type { Database } from './database';

/** The values of these names; a name nobody wrote has none. */
export async function readOperations(
  database: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.select<{ name: string; value: string }>(
    'read operations',
    `SELECT o.name AS name, argMax(o.value, o.version) AS value FROM operations AS o
     WHERE has({names:Array(String)}, o.name) GROUP BY o.name`,
    { names },
  );
  return new Map(rows.map(({ name, value }) => [name, Number(value)]));
}

export async function writeOperation(database: Database, name: string, value: number): Promise<void> {
  await database.command(
    'write operation',
    `INSERT INTO operations (name, value, version)
     SELECT {name:String}, {value:UInt64}, toUInt64(toUnixTimestamp64Micro(now64(6)))`,
    { name, value },
  );
}
