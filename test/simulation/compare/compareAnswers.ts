/**
 * Compares the answers of the real query functions with a plain recomputation from the canonical logs. Covers bars
 * (quote currency and USD, six timeframes), activity, pairs, DEXes and balances. Uses the reader's own snapshot on the
 * real engine.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { ALL_ACTIVITY, listEventsBetween } from '../../../src/query/activity/activity';
import { readHoldings } from '../../../src/query/holders/balances';
import { readDexTable } from '../../../src/query/dexes/dexTable';
import { ZERO_ADDRESS } from '../../../src/domain/hex';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { readHead } from '../../../src/query/head/headState';
import { createPairTables } from '../../../src/query/pairs/pairTable';
import { createTokenPrices } from '../../../src/query/prices/tokenPrices';
import { isDecoded } from '../../../src/wire/activity';
import { oracleTruth, type OracleTruth } from './compareOracle';
import { comparePairTicks as compareTicks, pricedSwaps } from './compareTicks';
import { ORD_SPAN, oraclePairs, plainOrd } from './oraclePairs';
import { oracleBalances } from './transferRows';
import { SIM_CHAIN_ID, SIM_NATIVE, V2_FACTORY, V3_FACTORY, type SimChain } from '../chain/simChain';
import { SIM_DESCRIPTION } from '../chain/simDescription';
import { digest } from '../chain/simLogs';

const FACTORIES = new Set<string>([V2_FACTORY, V3_FACTORY]);
const DAY = 86_400;
export async function compareAnswers(database: Database, chain: SimChain): Promise<string[]> {
  const runner = createQueryRunner(database);
  const head = await readHead(runner, SIM_CHAIN_ID);
  if (head === null) return ['readers find no head'];
  const blocks = [];
  for (let block = chain.block(head.hash); block !== undefined; block = chain.block(block.parentHash))
    blocks.push(block);
  const truth = oracleTruth(chain, blocks.reverse(), head.startBlock);
  return [
    ...(await compareTicks(runner, head, truth, await pricedSwaps(chain, truth, head.startBlock))),
    ...(await compareActivity(runner, head, truth)),
    ...(await compareMarket(runner, head, truth)),
    ...(await compareHoldings(runner, head, truth)),
  ].map((line) => `answer: ${line}`);
}

async function compareActivity(
  runner: QueryRunner,
  head: HeadSnapshot,
  truth: OracleTruth,
): Promise<string[]> {
  const toOrd = plainOrd(head.number + 1, 0) - 1;
  const pageSize = 1_000;
  const answeredLines: string[] = [];
  for (let afterOrd = 0; ;) {
    const events = await listEventsBetween(runner, head, ALL_ACTIVITY, afterOrd, toOrd, pageSize);
    for (const { item } of events)
      answeredLines.push(
        isDecoded(item)
          ? `${item.event_type} ${item.id} ${item.pair_address} ${item.maker}`
          : `undecodable ${item.id}`,
      );
    const last = events.at(-1);
    if (last === undefined || events.length < pageSize) break;
    afterOrd = last.ord;
  }
  const pairs = oraclePairs(truth.blocks, FACTORIES, head.startBlock);
  const makerAt = (ord: number): string | null => {
    const block = truth.blocks[Math.floor(ord / ORD_SPAN)]!;
    return block.transactions[block.logs[ord % ORD_SPAN]!.transactionIndex]?.from ?? null;
  };
  const makeLine = (kind: string, ord: number, pair: unknown): [number, string] => [
    ord,
    `${kind} ${Math.floor(ord / ORD_SPAN)}-${ord % ORD_SPAN} ${pair} ${makerAt(ord)}`,
  ];
  const [states, changes] = [
    [pairs, ...truth.pairs].flatMap((oracle) => oracle.states),
    [pairs, ...truth.pairs].flatMap((oracle) => oracle.liquidity),
  ];
  const mintsAndBurns = changes.filter(([, , kind]) => kind === 'mint' || kind === 'burn');
  const expected = [
    ...truth.swaps.map((swap) => makeLine('swap', plainOrd(swap.block, swap.logIndex), swap.pair)),
    ...states
      .filter(([, , kind]) => kind === 'sync')
      .map(([ord, pair]) => makeLine('sync', Number(ord), pair)),
    ...mintsAndBurns.map(([ord, pair, kind]) => makeLine(String(kind), Number(ord), pair)),
    ...truth.manyTokens
      .flatMap((oracle) => oracle.liquidity)
      .map(([block, index, pair, kind]) =>
        makeLine(String(kind), plainOrd(Number(block), Number(index)), pair),
      ),
  ]
    .sort(([a], [b]) => a - b)
    .map(([, text]) => text);
  if (answeredLines.length !== expected.length)
    return [`the activity has ${answeredLines.length} events, ${expected.length} expected`];
  const firstDifference = expected.findIndex((text, index) => text !== answeredLines[index]);
  return firstDifference < 0
    ? []
    : [`the activity has ${answeredLines[firstDifference]} instead of ${expected[firstDifference]}`];
}

/** Compares the trades of each pair in the last 24 hours, and the pools, trades and traders of the DEXes. */
async function compareMarket(runner: QueryRunner, head: HeadSnapshot, truth: OracleTruth): Promise<string[]> {
  const prices = createTokenPrices(runner, SIM_CHAIN_ID, SIM_DESCRIPTION);
  const table = await createPairTables(runner, SIM_CHAIN_ID, prices, SIM_DESCRIPTION.dexes).at(head);
  const dexes = await readDexTable(runner, SIM_CHAIN_ID, head, SIM_DESCRIPTION.dexes, table);
  const pairs = oraclePairs(truth.blocks, FACTORIES, head.startBlock);
  const pools = [
    ...[pairs, ...truth.pairs].flatMap((oracle) => oracle.pools).map(([, address]) => String(address)),
    ...truth.manyTokens.flatMap((oracle) => oracle.pools).map(([, , address]) => String(address)),
  ];
  const wrong: string[] = [];
  if (table.entries.length !== pools.length)
    wrong.push(`${table.entries.length} pairs, ${pools.length} expected`);
  const swapsOfDay = truth.swaps.filter(
    ({ timestamp }) => timestamp > head.timestamp - DAY && timestamp <= head.timestamp,
  );
  const fees = new Map([...truth.manyTokens, ...truth.pairs].flatMap((oracle) => [...oracle.feesNow()]));
  for (const address of pools) {
    const item = table.byAddress.get(address)?.item;
    const trades = swapsOfDay.filter(({ pair }) => pair === address).length;
    if (item === undefined) wrong.push(`pair ${address} is not listed`);
    else if (item.tx_24h !== trades || item.buys_24h + item.sells_24h !== trades)
      wrong.push(`pair ${address} has ${item.tx_24h} trades in 24 hours, ${trades} expected`);
    const fee = fees.get(address);
    if (item !== undefined && fee !== undefined && Math.round((item.fee_bps ?? 0) * 100) !== fee)
      wrong.push(`pair ${address} has a fee of ${item.fee_bps} bps, ${fee} pips expected`);
  }
  // A swap without a transaction has no maker.
  const makers = new Set(swapsOfDay.flatMap(({ maker }) => maker ?? []));
  if (dexes.trades !== swapsOfDay.length)
    wrong.push(`${dexes.trades} trades in 24 hours on all DEXes, ${swapsOfDay.length} expected`);
  if ((dexes.traders ?? 0) !== makers.size)
    wrong.push(`${dexes.traders} traders in 24 hours, ${makers.size} expected`);
  const poolsOfDexes = dexes.items.reduce((sum, item) => sum + item.pool_count, 0);
  if (poolsOfDexes !== pools.length)
    wrong.push(`the DEXes have ${poolsOfDexes} pools, ${pools.length} expected`);
  return wrong.slice(0, 3);
}

async function compareHoldings(
  runner: QueryRunner,
  head: HeadSnapshot,
  truth: OracleTruth,
): Promise<string[]> {
  const expected = oracleBalances(truth.blocks.slice(head.startBlock), SIM_NATIVE);
  const wrong: string[] = [];
  for (let index = 0; index < 8; index += 1) {
    const holder = digest(`holder ${index}`, 20);
    const { balances } = await readHoldings(runner, head, holder);
    for (const [key, balance] of expected) {
      const [token, owner] = key.split(' ');
      // The row of the zero address as token stands for positions.
      if (owner !== holder || token === ZERO_ADDRESS) continue;
      const answeredBalance = balances.get(token!) ?? 0n;
      if (answeredBalance !== balance)
        wrong.push(`${holder} holds ${answeredBalance} of ${token}, ${balance} expected`);
    }
  }
  return wrong.slice(0, 3);
}
