/**
 * Runs the real ingest session over the simulated chain and the real engine, and compares the stored rows with the
 * oracle.
 */
import type { Database } from '../../src/clickhouse/client/database';
import { createQueryRunner } from '../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../src/domain/hex';
import { lastOrdOfBlock, toOrd } from '../../src/domain/ord';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import type { DecodeContext } from '../../src/ingest/decode/decodeContext';
import { PoolDiscovery } from '../../src/ingest/pools/discoverPools';
import { VaultDiscovery } from '../../src/ingest/pools/discoverVaultPools';
import type { EthCalls } from '../../src/ingest/pools/ethCalls';
import { createDecodeContext } from '../../src/ingest/session/runIngest';
import { IngestSession } from '../../src/ingest/session/session';
import { newIngestStatus } from '../../src/ingest/session/status';
import { readStoredState } from '../../src/ingest/store/storedState';
import { createLog } from '../../src/log';
import type { PricerConfig } from '../../src/pricing/pricer';
import { VAULT_PROTOCOL } from '../../src/protocols/registry';
import { verifyAggregates } from '../../src/query/verify/verifyAggregates';
import { askRows } from '../support/engine/askRows';
import { oracleBars, oracleSwaps } from '../support/oracle/oracle';
import { VaultOracle } from '../support/oracle/oracleVault';
import { Random } from '../support/random';
import { compareTransfers } from './compare/transferRows';
import { comparePriceRows } from './compare/priceRows';
import { SIM_CHAIN_ID, SIM_RANKED, simToken, V2_FACTORY, V3_FACTORY, type SimChain } from './chain/simChain';
import { SIM_DESCRIPTION } from './chain/simDescription';
import { headerOf, simCalls, simFinality, simSource, type SimFaults } from './chain/simNode';
import { listingOf, VAULT } from './chain/simVault';
import { compareVaultRows } from './compare/vaultRows';

const log = createLog('silent', false);
const baseIsToken0 = (token0: string): boolean => token0 < '0x8';

function vaultDiscovery(rpc: EthCalls): VaultDiscovery {
  const quoteRank = (token: Hex): number => {
    const at = SIM_RANKED.indexOf(token);
    return at < 0 ? Infinity : at;
  };
  return new VaultDiscovery({
    rpc,
    dexes: SIM_DESCRIPTION.dexes.filter(({ protocol }) => protocol === VAULT_PROTOCOL),
    baseIsToken0,
    quoteRank,
    log,
  });
}

/** Two stables and the native token among the tokens of the simulated pools. */
export const SIM_PRICES: PricerConfig = {
  anchors: [
    { address: simToken(6), priceUsd: 1 },
    { address: simToken(7), priceUsd: 1 },
  ],
  wrappedNative: simToken(8),
};

/** The product's context of the simulated chain. The orientation of pools is the one that the oracle expects. */
function decodeContext(): DecodeContext {
  const context = createDecodeContext({ chain: SIM_DESCRIPTION, status: newIngestStatus(), log });
  return { ...context, baseIsToken0 };
}

/** Opens a session as the product does, starting at the first block or at a later one. */
export function openSession(
  chain: SimChain,
  database: Database,
  faults: SimFaults,
  options: { readonly depth: number; readonly commitSeed: number; readonly firstBlock?: number },
): Promise<IngestSession> {
  const decode = decodeContext();
  const commits = new Random(options.commitSeed);
  const rpc = simCalls(chain, faults);
  const deps = {
    store: createClickHouseStore(database, SIM_CHAIN_ID),
    rpc,
    source: simSource(chain, faults),
    finality: simFinality(options.depth),
    decode,
    prices: SIM_PRICES,
    discovery: new PoolDiscovery({
      rpc,
      dexes: [],
      eventTopics: decode.eventTopics,
      creationTopics: decode.creationTopics,
      baseIsToken0: decode.baseIsToken0,
      log,
    }),
    vaultDiscovery: vaultDiscovery(rpc),
    status: newIngestStatus(),
    log,
    now: () => 0,
    newCommit: () => 1 + Math.floor(commits.next() * 2 ** 52),
  };
  const base = chain.at((options.firstBlock ?? 1) - 1)!;
  return IngestSession.open(deps, () => Promise.resolve(base), new AbortController().signal);
}

/** Faults of a node that never fails. */
export const CALM: SimFaults = { failure: 0, between: () => undefined };

/** Ingests the chain up to its head. Returns the session for further use. */
export async function storeChain(chain: SimChain, database: Database): Promise<IngestSession> {
  const session = await openSession(chain, database, CALM, { depth: 20, commitSeed: 1 });
  await session.advanceTo(headerOf(chain.head));
  return session;
}

/** One line for each stored row that contradicts the canonical chain. */
export async function findDifferences(
  chain: SimChain,
  database: Database,
  firstBlock = 1,
): Promise<string[]> {
  const stored = await readStoredState(database, SIM_CHAIN_ID);
  if (stored === null) return ['the store is empty'];
  const differences: string[] = [];
  const tip = stored.head.at(-1) ?? stored.cursor;
  if (tip.hash !== chain.head.hash)
    differences.push(`the stored tip is ${tip.number} ${tip.hash}, the chain ends at ${chain.head.number}`);
  if (stored.headMax > tip.number) differences.push(`a canonical block above the tip: ${stored.headMax}`);
  const listings = new Map(
    chain.vaultPoolsAt(chain.head.hash)!.map((pool) => [pool.address, listingOf(pool)]),
  );
  const listed = (pool: string) => listings.get(pool as Hex) ?? null;
  const truth = { vault: VAULT, ranked: SIM_RANKED, listingOf: listed };
  const vault = new VaultOracle(truth, firstBlock);
  const factories = new Set([V2_FACTORY, V3_FACTORY]);
  const swaps = oracleSwaps(chain.canonical(), factories, { vault, firstBlock });
  differences.push(...(await compareSwaps(database, stored.cursor.number, stored.head, swaps)));
  const final = swaps.filter((swap) => swap.block <= stored.cursor.number);
  differences.push(...(await compareBars(database, final)));
  const commits = stored.head.map((block) => block.commit);
  const kept = { firstBlock, finalTo: stored.cursor.number, commits };
  const rpc = simCalls(chain, CALM);
  const straight = { context: decodeContext(), vaultDiscovery: vaultDiscovery(rpc) };
  differences.push(...(await compareVaultRows(database, vault, kept)));
  const canonical = chain.canonical().filter((block) => block.number >= firstBlock);
  differences.push(...(await compareTransfers(database, canonical, simToken(8), kept)));
  const priced = await comparePriceRows(chain, database, straight, SIM_PRICES, kept);
  differences.push(...priced.differences);
  const verified = await verifyAggregates(
    createQueryRunner(database),
    { chainId: SIM_CHAIN_ID, from: firstBlock, to: stored.cursor.number, finalTo: stored.cursor.number },
    () => undefined,
  );
  return [
    ...differences,
    ...verified.map((item) => `verify: ${item.item} only in ${item.only_in} ${item.value}`),
  ];
}

const close = (a: number, b: number): boolean =>
  a === b || Math.abs(a - b) <= 1e-14 * Math.max(Math.abs(a), Math.abs(b));

interface StoredSwap {
  readonly ord: string;
  readonly pair: string;
  readonly leg: number;
  readonly token0: string;
  readonly token1: string;
  readonly base_is_token0: boolean;
  readonly fee_pips: number;
  readonly reserve0: string;
  readonly reserve1: string;
  readonly maker: string | null;
  readonly amount0: string;
  readonly amount1: string;
  readonly price: number;
  readonly timestamp: number;
}

async function compareSwaps(
  database: Database,
  finalTo: number,
  head: readonly { readonly commit: number }[],
  expected: ReturnType<typeof oracleSwaps>,
): Promise<string[]> {
  const columns = `ord, concat('0x', lower(hex(t.pair))) AS pair, if(isNull(t.maker), NULL, concat('0x', lower(hex(t.maker)))) AS maker,
    toString(t.amount0) AS amount0, toString(t.amount1) AS amount1, toString(t.reserve0) AS reserve0,
    toString(t.reserve1) AS reserve1, concat('0x', lower(hex(t.token0))) AS token0,
    concat('0x', lower(hex(t.token1))) AS token1, leg, base_is_token0, fee_pips, price, timestamp`;
  const rows = await askRows<StoredSwap>(
    database,
    `SELECT * FROM (
       SELECT ${columns} FROM swaps AS t WHERE ord <= {final_ord:UInt64}
       UNION ALL SELECT ${columns} FROM swaps_head AS t WHERE has({commits:Array(UInt64)}, commit)
     ) ORDER BY ord`,
    { final_ord: lastOrdOfBlock(finalTo), commits: head.map((block) => block.commit) },
  );
  const differences: string[] = [];
  if (rows.length !== expected.length)
    differences.push(`${rows.length} swaps stored, ${expected.length} expected`);
  rows.slice(0, expected.length).forEach((row, index) => {
    const swap = expected[index]!;
    const same =
      Number(row.ord) === toOrd(swap.block, swap.logIndex) &&
      row.pair === swap.pair &&
      row.leg === swap.leg &&
      row.token0 === swap.token0 &&
      row.token1 === swap.token1 &&
      row.base_is_token0 === baseIsToken0(swap.token0) &&
      row.fee_pips === swap.feePips &&
      (swap.reserves === null || swap.reserves.join() === [row.reserve0, row.reserve1].join()) &&
      row.maker === swap.maker &&
      row.amount0 === swap.amount0.toString() &&
      row.amount1 === swap.amount1.toString() &&
      row.timestamp === swap.timestamp &&
      close(row.price, swap.price ?? 0);
    if (!same)
      differences.push(
        `swap ${JSON.stringify(row)} is not ${swap.block}-${swap.logIndex} ${swap.pair} ${swap.price}`,
      );
  });
  return differences.slice(0, 5);
}

interface StoredBar {
  readonly key: string;
  readonly o: number;
  readonly h: number;
  readonly l: number | null;
  readonly c: number;
  readonly v0: string;
  readonly v1: string;
  readonly n: string;
  readonly b: string;
}

async function compareBars(database: Database, final: ReturnType<typeof oracleSwaps>): Promise<string[]> {
  const expected = oracleBars(final);
  const rows = await askRows<StoredBar>(
    database,
    `SELECT concat(toString(timeframe), ' 0x', lower(hex(pair)), ' ', toString(bucket), ' ',
       toString(leg)) AS key,
       least((min(first).1, min(first).2), min(first_quote)).2 AS o, max(high) AS h, min(low) AS l,
       greatest((max(last).1, max(last).2), max(last_quote)).2 AS c,
       toString(sum(volume0)) AS v0, toString(sum(volume1)) AS v1, sum(trades) AS n, sum(buys) AS b
     FROM bars GROUP BY timeframe, pair, leg, bucket`,
  );
  const differences: string[] = [];
  if (rows.length !== expected.size)
    differences.push(`${rows.length} bars stored, ${expected.size} expected`);
  for (const row of rows) {
    const bar = expected.get(row.key);
    const priced = bar !== undefined && !Number.isNaN(bar.open);
    const same =
      bar !== undefined &&
      (!priced ||
        (close(row.o, bar.open) &&
          close(row.h, bar.high) &&
          close(row.l ?? NaN, bar.low) &&
          close(row.c, bar.close))) &&
      (priced || row.h === 0) &&
      row.v0 === bar.volume0.toString() &&
      row.v1 === bar.volume1.toString() &&
      Number(row.n) === bar.trades &&
      [bar.outs0, bar.outs1].includes(Number(row.b));
    if (!same)
      differences.push(
        `bar ${JSON.stringify(row)} is not ${bar === undefined ? 'there' : JSON.stringify({ ...bar, volume0: '', volume1: '' })}`,
      );
  }
  return differences.slice(0, 5);
}
