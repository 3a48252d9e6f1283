/**
 * Answers the ingester's named queries from the model, one function for each. Shapes follow ClickHouse's JSON (integers
 * of 64 bits and more as text). An unknown query is an error, never an empty answer.
 */
import { isWeaker } from '../../../src/domain/block';
import { EVENT_TABLE_NAMES } from '../../../src/clickhouse/schema/eventTables';
import type { QueryParams } from '../../../src/clickhouse/client/database';
import { VAULT_TOPICS } from '../../../src/protocols/balancerV2/decodeBalancerEvent';
import type { Hex } from '../../../src/domain/hex';
import type { ModelEngine } from './modelEngine';
import { blockOf, sortKeyOf, type StoredRow } from './modelTables';
import type { LatestState } from './modelViews';
import type { Fields } from './rowBytes';

type Rows = readonly object[];
/** `sql` is the text of the query. It tells whether the query reads the newest rows of a table or of its view. */
type Answer = (engine: ModelEngine, params: QueryParams, sql: string) => Rows;

const numberOf = (params: QueryParams, name: string): number => Number(params[name]);
const listOf = (params: QueryParams, name: string): readonly (string | number)[] =>
  params[name] as readonly (string | number)[];
const texts = (values: unknown): string[] => (values as readonly unknown[]).map(String);
const ordOf = (row: StoredRow): number => Number(row.fields['ord']);

const rowsUpTo = (engine: ModelEngine, table: string, params: QueryParams): StoredRow[] =>
  engine.finalRows(table).filter((row) => sortKeyOf(table, row.bytes) <= numberOf(params, 'final_ord'));

const rowsWithin = (engine: ModelEngine, table: string, params: QueryParams): StoredRow[] =>
  engine
    .finalRows(table)
    .filter((row) => {
      const sortKey = sortKeyOf(table, row.bytes);
      return sortKey >= numberOf(params, 'from_ord') && sortKey <= numberOf(params, 'to_ord');
    })
    .sort((a, b) => ordOf(a) - ordOf(b));

/** The row with the largest ord of each key. */
function newestBy(rows: readonly StoredRow[], keyOf: (fields: Fields) => string): Fields[] {
  const newest = new Map<string, Fields>();
  for (const { fields } of rows) {
    const knownFields = newest.get(keyOf(fields));
    if (knownFields === undefined || Number(fields['ord']) > Number(knownFields['ord']))
      newest.set(keyOf(fields), fields);
  }
  return [...newest.values()].sort((a, b) => Number(b['ord']) - Number(a['ord']));
}

function newestRanges(engine: ModelEngine): Rows {
  // Of several rows of a range, the one with the weakest level of proof counts.
  const newest = (status: 'done' | 'intent') =>
    engine.promotions
      .filter((row) => row.status === status)
      .sort((a, b) => b.seq - a.seq || (isWeaker(a.proof, b.proof) ? -1 : Number(a.proof !== b.proof)))[0];
  return [newest('done'), newest('intent')]
    .flatMap((row) => row ?? [])
    .map((row) => ({
      seq: row.seq,
      status: row.status,
      kind: row.kind,
      from_block: row.from,
      to_block: row.to,
      to_hash: row.toHash,
      to_timestamp: row.toTimestamp,
      counts: row.counts,
      proof: row.proof,
    }));
}

function headBlocks(engine: ModelEngine, params: QueryParams): Rows {
  return engine.heights
    .filter(({ number }) => number > numberOf(params, 'cursor'))
    .sort((a, b) => a.version - b.version)
    .map(({ parentHash, finalNumber, ...fields }) => ({
      ...fields,
      final_number: finalNumber,
      parent_hash: parentHash,
    }));
}

function listStates(engine: ModelEngine, params: QueryParams, sql: string): Rows {
  const latest: LatestState[] = sql.includes('FROM pool_states')
    ? newestBy(rowsUpTo(engine, 'pool_states', params), ({ pair }) => String(pair)).map((fields) => ({
        ord: 0,
        fields,
      }))
    : [...engine.views.poolLatest.values()];
  return latest.map(({ fields }) => fields);
}

/** Whether a row is about a vault pool. The view pool_balances keeps only these rows. */
function isOfVault(fields: Fields): boolean {
  return texts(fields['balances']).length > 0 || Number(fields['doubts']) > 0;
}

function vaultBalances(engine: ModelEngine, params: QueryParams, sql: string): Rows {
  const wantedPools = new Set(listOf(params, 'pools').map((pool) => `0x${pool}`));
  const latest = sql.includes('FROM pool_states')
    ? newestBy(
        rowsUpTo(engine, 'pool_states', params).filter(({ fields }) => isOfVault(fields)),
        ({ pair }) => String(pair),
      )
    : [...engine.views.poolBalances.values()].map(({ fields }) => fields);
  return latest
    .filter(({ pair }) => wantedPools.has(String(pair)))
    .map(({ pair, balances, doubts, params }) => ({ pair, balances, doubts, params }));
}

function vaultIds(engine: ModelEngine, params: QueryParams): Rows {
  const ords = new Set(listOf(params, 'ords').map(Number));
  const vault = `0x${params['vault']}`;
  return engine
    .finalRows('logs')
    .filter((row) => ords.has(sortKeyOf('logs', row.bytes)))
    .map((row) => row.fields)
    .filter(({ address, topic0 }) => address === vault && VAULT_TOPICS.has(topic0 as Hex))
    .map(({ topic1 }) => ({ pool_id: topic1 }));
}

function vaultFees(engine: ModelEngine, params: QueryParams): Rows {
  const pools = new Set(listOf(params, 'pools').map((pool) => `0x${pool}`));
  const topics = new Set(listOf(params, 'topics').map((topic) => `0x${topic}`));
  const changes = rowsUpTo(engine, 'logs', params).filter(({ fields }) => {
    const { address, topic0, topic_count: count, data } = fields;
    const isFee = topics.has(String(topic0)) && count === 1 && [66, 130].includes(String(data).length);
    return isFee && pools.has(String(address));
  });
  return newestBy(changes, ({ address, topic0, data }) => `${address} ${topic0} ${String(data).length}`).map(
    ({ address, ord, topic0, data }) => ({ address, ord, topic: topic0, data }),
  );
}

function poolFees(engine: ModelEngine, params: QueryParams): Rows {
  const protocols = new Set(listOf(params, 'protocols'));
  const ofProtocols = rowsUpTo(engine, 'pools', params).filter(({ fields }) =>
    protocols.has(String(fields['protocol'])),
  );
  const pairs = new Set(ofProtocols.map(({ fields }) => String(fields['address'])));
  const topics = new Set(listOf(params, 'topics').map((topic) => `0x${topic}`));
  const changes = rowsUpTo(engine, 'logs', params).filter(({ fields }) => {
    const { address, topic0, topic_count: count, data } = fields;
    const isFee = topics.has(String(topic0)) && count === 1 && [66, 130].includes(String(data).length);
    return isFee && pairs.has(String(address));
  });
  return newestBy(changes, ({ address }) => String(address)).map(({ address, topic0, data }) => ({
    pair: address,
    topic: topic0,
    fees: data,
  }));
}

function pools(engine: ModelEngine, params: QueryParams): Rows {
  return rowsUpTo(engine, 'pools', params).map(({ fields }) => fields);
}

function listTicks(engine: ModelEngine, params: QueryParams): Rows {
  const nets = new Map<string, { readonly pair: string; readonly tick: number; net: bigint }>();
  const add = (pair: string, tick: number, net: bigint): void => {
    const tickNet = nets.get(`${pair} ${tick}`) ?? { pair, tick, net: 0n };
    nets.set(`${pair} ${tick}`, { ...tickNet, net: tickNet.net + net });
  };
  for (const { fields } of rowsUpTo(engine, 'liquidity_events', params)) {
    const { pair, kind, pool_type: type, liquidity, tick_lower: lower, tick_upper: upper } = fields;
    // Only V3 pools (type 3) have ticks.
    if (Number(type) !== 3 || (kind !== 'mint' && kind !== 'burn')) continue;
    const [from, to] = [Number(lower), Number(upper)];
    if (from < numberOf(params, 'tick_min') || from >= to || to > numberOf(params, 'tick_max')) continue;
    const net = kind === 'mint' ? BigInt(String(liquidity)) : -BigInt(String(liquidity));
    add(String(pair), from, net);
    add(String(pair), to, -net);
  }
  return [...nets.values()].filter(({ net }) => net !== 0n);
}

function listBins(engine: ModelEngine, params: QueryParams): Rows {
  const bins = new Map<string, { readonly pair: string; readonly id: number; sums: [bigint, bigint] }>();
  for (const { fields } of rowsUpTo(engine, 'pool_states', params)) {
    // Only pools of type 7 have bins.
    if (Number(fields['pool_type']) !== 7) continue;
    const numbers = (fields['params'] as readonly unknown[]).map((value) => BigInt(String(value)));
    for (let at = 0; at < numbers.length; at += 3) {
      const [pair, id] = [String(fields['pair']), Number(numbers[at])];
      const bin = bins.get(`${pair} ${id}`) ?? { pair, id, sums: [0n, 0n] };
      const sums = bin.sums.map((sum, i) => BigInt.asUintN(256, sum + numbers[at + 1 + i]!));
      bins.set(`${pair} ${id}`, { pair, id, sums: [sums[0]!, sums[1]!] });
    }
  }
  return [...bins.values()].map(({ pair, id, sums: [amount0, amount1] }) => ({ pair, id, amount0, amount1 }));
}

function countRange(engine: ModelEngine, table: string, params: QueryParams): Rows {
  const [from, to] = [numberOf(params, 'from'), numberOf(params, 'to')];
  const total = engine.finalRows(table).filter((row) => {
    const block = blockOf(table, row.bytes);
    return block >= from && block <= to;
  }).length;
  return [{ total }];
}

function finalBlocks(engine: ModelEngine, from: number, to: number): Rows {
  return engine
    .finalRows('blocks')
    .filter((row) => sortKeyOf('blocks', row.bytes) >= from && sortKeyOf('blocks', row.bytes) <= to)
    .map(({ fields }) => ({ number: Number(fields['number']), timestamp: fields['timestamp'] }))
    .sort((a, b) => a.number - b.number);
}

const ANSWERS: Readonly<Record<string, Answer>> = {
  'ingest/store/list_newest_ranges': newestRanges,
  'ingest/store/list_head_blocks': headBlocks,
  'ingest/store/find_start': (engine) =>
    engine.promotions.filter(({ seq }) => seq === 0).map(({ from }) => ({ from_block: from })),
  'ingest/store/find_head_version': (engine) => [
    { version: engine.heights.reduce((max, { version }) => Math.max(max, version), 0) },
  ],
  'ingest/store/list_tokens': (engine) =>
    [...engine.tokens.values()].map((row) => ({
      ...row,
      complete: row['symbol'] !== null && row['name'] !== null && row['decimals'] !== null,
    })),
  'holders/list_odd_tokens': (engine) => [...engine.oddTokens.values()],
  'ingest/store/list_pools': pools,
  'ingest/store/list_latest_states': listStates,
  'ingest/store/list_exact_states': listStates,
  'ingest/store/list_fees': poolFees,
  'ingest/pools/list_vault_ids': vaultIds,
  'ingest/pools/list_vault_fees': vaultFees,
  'ingest/pools/list_latest_vault_balances': vaultBalances,
  'ingest/pools/list_exact_vault_balances': vaultBalances,
  'ingest/price/find_block_time': (engine, params) =>
    finalBlocks(engine, numberOf(params, 'number'), numberOf(params, 'number')),
  'prices/list_epochs': (engine, params) =>
    newestBy(rowsWithin(engine, 'pool_epochs', params), ({ pair, leg }) => `${pair} ${leg}`),
  'prices/list_routes': (engine, params) =>
    newestBy(rowsWithin(engine, 'token_routes', params), ({ token }) => String(token)),
  'prices/list_newest_hops': (engine, params) =>
    newestBy(rowsWithin(engine, 'token_prices', params), ({ token }) => String(token)),
  'ingest/price/list_blocks': (engine, params) =>
    finalBlocks(engine, numberOf(params, 'from'), numberOf(params, 'to')),
  'ingest/price/list_states': (engine, params) =>
    rowsWithin(engine, 'pool_states', params).map(({ fields }) => fields),
  'ingest/price/list_bins': listBins,
  'ingest/price/list_ticks': listTicks,
  'ingest/price/list_swaps': (engine, params) =>
    rowsWithin(engine, 'swaps', params).map(({ fields }) => fields),
  'check totals': (engine) => [
    { name: 'swaps', total: engine.finalRows('swaps').length },
    ...engine.views.totals(),
  ],
  'check newest rows': (engine, params) => {
    const ords = (rows: readonly { readonly ord: number }[]): number =>
      Math.max(0, ...rows.map(({ ord }) => ord));
    const states = rowsWithin(engine, 'pool_states', params).map((row) => ({ ord: ordOf(row), row }));
    const balanced = states.filter(({ row }) => isOfVault(row.fields));
    const { poolLatest, poolBalances } = engine.views;
    return [
      { name: 'pool_latest', expected: ords(states), found: ords([...poolLatest.values()]) },
      { name: 'pool_balances', expected: ords(balanced), found: ords([...poolBalances.values()]) },
    ];
  },
  // The model runs a statement as a whole, so none is left when a writer claims the database.
  'ingest/store/list_running_inserts': () => [],
  'ingest/store/list_head_partitions': (engine) => engine.partitions(),
  ...Object.fromEntries(
    EVENT_TABLE_NAMES.map((table): [string, Answer] => [
      `check ${table}`,
      (engine, params) => countRange(engine, table, params),
    ]),
  ),
};

export function answerQuery(engine: ModelEngine, name: string, sql: string, params: QueryParams): Rows {
  const answer = ANSWERS[name];
  if (answer === undefined) throw new Error(`the model of the store does not implement the query "${name}"`);
  return answer(engine, params, sql);
}
