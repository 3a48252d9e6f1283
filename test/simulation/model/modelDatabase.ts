/**
 * The model's connection for one run of the process (life). The real protocol of clickhouseStore.ts uses this
 * connection. The process may die before a statement, between two table writes (a source, then its views), or
 * before the acknowledgement.
 */
import type { Clock } from '../../../src/node/rpc/clock';
import type { Database, QueryParams } from '../../../src/clickhouse/client/database';
import type { ColumnType } from '../../../src/clickhouse/rows/columns';
import { RowReader } from '../../../src/clickhouse/rows/rowReader';
import type { RowType } from '../../../src/clickhouse/rows/rowType';
import { RowWriter } from '../../../src/clickhouse/rows/rowWriter';
import type { ProofLevel } from '../../../src/domain/block';
import { crashError, glitchError, type FaultPlan } from '../faultPlan';
import type { ModelEngine, Step } from './modelEngine';
import { answerQuery } from './modelQueries';
import type { Fields } from './rowBytes';

export function openModelDatabase(
  engine: ModelEngine,
  faults: FaultPlan,
  trace: (event: string) => void,
  clock: Clock | null,
): Database {
  const dieAtRandom = (): void => {
    if (faults.isLast()) throw crashError();
  };
  const execute = async (name: string, steps: () => readonly Step[]): Promise<void> => {
    dieAtRandom();
    if (faults.glitches()) throw glitchError();
    trace(name);
    // From here on, the statement takes effect even if the client dies.
    const shuffledSteps = faults.shuffle(steps());
    const lateMs = clock === null ? null : faults.lateMs();
    if (clock !== null && lateMs !== null) {
      trace(`late by ${lateMs}`);
      engine.lateStatements += 1;
      void clock.sleep(lateMs).then(() => {
        engine.lateStatements -= 1;
        shuffledSteps.forEach((step) => step());
      });
      throw glitchError();
    }
    for (const step of shuffledSteps) {
      await Promise.resolve();
      if (faults.isLast() && faults.death === 'engine') throw crashError();
      step();
    }
    dieAtRandom();
    if (faults.glitches()) throw glitchError();
  };
  const select = async (name: string, sql: string, params: QueryParams = {}): Promise<unknown[]> => {
    if (faults.death !== null) throw crashError();
    await Promise.resolve();
    return [...answerQuery(engine, name, sql, params)];
  };
  return {
    cluster: null,
    select,
    rows: async (name, sql, params, row) => throughBytes(name, await select(name, sql, params), row),
    insert: (table, _columns, body, token) =>
      execute(`insert ${table} ${body.length} ${token ?? ''}`, () => engine.insertSteps(table, body, token)),
    command: (name, sql, params = {}, token) =>
      execute(`${name} ${token ?? ''}`, () => commandSteps(engine, name, sql, params, token)),
    selectBinary: () => Promise.reject(new Error('the model of the store does not support raw reads')),
    ping: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
}

/** Rows as the engine sends them, so that a value of another type than its column fails. */
function throughBytes<Row>(name: string, rows: readonly unknown[], row: RowType<Row>): Row[] {
  const columns = Object.entries<ColumnType<unknown>>(row.columns);
  const decode = row.decoderOf(
    name,
    columns.map(([column, { sql }]) => ({ name: column, type: sql })),
  );
  const writer = new RowWriter();
  for (const fields of rows as readonly Fields[])
    for (const [column, type] of columns) type.write(writer, fields[column]);
  const reader = new RowReader(writer.view());
  return rows.map(() => decode(reader));
}

function commandSteps(
  engine: ModelEngine,
  name: string,
  sql: string,
  params: QueryParams,
  token: string | undefined,
): readonly Step[] {
  if (name === 'write intent' || name === 'write done') return [() => writePromotion(engine, sql, params)];
  if (name.startsWith('promote ')) {
    return engine.promoteSteps(name.slice('promote '.length), params['commits'] as readonly number[], token);
  }
  if (name === 'drop head partition') {
    const [, table, partition] = /ALTER TABLE (\w+) DROP PARTITION ID '(\d+)'/.exec(sql) ?? [];
    return [() => engine.dropPartition(table!, Number(partition))];
  }
  throw new Error(`the model of the store does not implement the command "${name}"`);
}

function writePromotion(engine: ModelEngine, sql: string, params: QueryParams): void {
  const counts = [...sql.matchAll(/'(\w+)', (\d+)/g)].map(
    ([, table, count]) => [table!, Number(count)] as const,
  );
  engine.promotions.push({
    seq: Number(params['seq']),
    status: params['status'] === 'done' ? 'done' : 'intent',
    kind: String(params['kind']),
    from: Number(params['from']),
    to: Number(params['to']),
    toHash: `0x${params['hash']}`,
    toTimestamp: Number(params['timestamp']),
    counts: Object.fromEntries(counts),
    proof: params['proof'] as ProofLevel,
  });
}
