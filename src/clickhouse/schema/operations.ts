/**
 * Reads and writes the table `operations`: named numbers that commands set, such as a pause or a retention floor. The
 * newest row of each name is the current value.
 */
import type { Database } from '../client/database';
import { selectNamed } from '../client/namedQueries';
import { lowText, u64 } from '../rows/columns';
import { rowType } from '../rows/rowType';

/** Name of the last block up to which the senders of stored events are recovered from their signatures. */
export const SENDERS_CHECKED = 'senders_checked';

export const operationRow = rowType({ name: lowText, value: u64 });

/** Current values by name. A name that was never written has no entry. */
export async function readOperations(
  database: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await selectNamed(database, 'engine/list_operations', { names }, operationRow);
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** `condition` is SQL that throws if this process may no longer write. */
export async function writeOperation(
  database: Database,
  name: string,
  value: number,
  condition = 'true',
): Promise<void> {
  await database.command(
    'write operation',
    `INSERT INTO operations (name, value, version)
     SELECT {name:String}, {value:UInt64}, toUInt64(toUnixTimestamp64Micro(now64(6))) WHERE ${condition}`,
    { name, value },
  );
}
