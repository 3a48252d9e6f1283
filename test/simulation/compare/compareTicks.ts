/**
 * Compares bars of the real query functions with a plain recomputation. Quote bars come from the oracle's swaps. USD
 * bars come from the USD prices of one undisturbed run of the product, which test/property compares with a naive
 * search for routes.
 */
import type { QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../../src/domain/hex';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { createHeadSwaps } from '../../../src/query/bars/headSwaps';
import { Directory } from '../../../src/query/tokens/directory';
import { getPairSeries } from '../../../src/query/bars/pairSeries';
import type { Currency } from '../../../src/wire/ticks';
import { isBaseFirst, type OracleTruth } from './compareOracle';
import { oracleBars, type OracleBar } from '../../support/oracle/oracle';
import { SIM_CHAIN_ID, type SimChain } from '../chain/simChain';
import { SIM_DESCRIPTION } from '../chain/simDescription';
import { simDecimals } from '../chain/simTokens';
import { straightBlocks } from './straightRun';

const TIMEFRAMES = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 } as const;
type Timeframe = keyof typeof TIMEFRAMES;
/** Number of pairs whose bars are compared: the pairs with the most swaps. */
const PAIRS_COMPARED = 6;
const BARS_MAX = 1_000;
/** USD amounts are stored with 12 decimals. */
const USD_UNITS = 1e12;

const isClose = (a: number, b: number): boolean =>
  a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

interface PricedSwap {
  readonly pair: string;
  readonly leg: number;
  readonly timestamp: number;
  /** Price of the swap; 0 means no price. */
  readonly priceUsd: number;
  /** USD value of the swap; null means that the swap is untracked. */
  readonly amountUsd: bigint | null;
}

/** Swaps in canonical order. */
export async function pricedSwaps(
  chain: SimChain,
  { blocks }: OracleTruth,
  startBlock: number,
): Promise<PricedSwap[]> {
  const rows = await straightBlocks(chain, blocks.slice(startBlock), startBlock);
  return rows.flatMap(({ swaps }) =>
    swaps.map((row) => ({
      pair: row.pair,
      leg: row.leg,
      timestamp: row.timestamp,
      priceUsd: row.price_usd,
      amountUsd: row.tracked ? row.amount_usd : null,
    })),
  );
}

interface PlainBar {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
  readonly volume_usd: number;
  readonly trades: number;
  readonly buys: number;
  readonly sells: number;
}

/** Lists only the first differences between the bars of pairs and the expected bars. */
export async function comparePairTicks(
  runner: QueryRunner,
  head: HeadSnapshot,
  truth: OracleTruth,
  pricedSwaps: readonly PricedSwap[],
): Promise<string[]> {
  const source = {
    runner,
    chainId: SIM_CHAIN_ID,
    directory: new Directory(runner),
    chain: SIM_DESCRIPTION,
    headSwaps: createHeadSwaps(runner),
  };
  const bars = oracleBars(truth.swaps);
  const swapsByPair = new Map<string, number>();
  // Compares only pools of two tokens, whose one leg has the number 1. Other tests request bars of the legs of larger
  // pools.
  const swapsOfPairs = truth.swaps.filter(({ leg }) => leg === 1);
  for (const { pair } of swapsOfPairs) swapsByPair.set(pair, (swapsByPair.get(pair) ?? 0) + 1);
  const busiestPairs = [...swapsByPair]
    .sort(([, countA], [, countB]) => countB - countA)
    .slice(0, PAIRS_COMPARED);
  const wrong: string[] = [];
  for (const [pair] of busiestPairs) {
    const swap = swapsOfPairs.find((candidate) => candidate.pair === pair)!;
    if (truth.manyTokens.some(({ pools }) => pools.some(([, , address]) => address === pair))) continue;
    const baseFirst = isBaseFirst(swap.token0, swap.token1);
    for (const [timeframe, seconds] of Object.entries(TIMEFRAMES) as [Timeframe, number][]) {
      const usdByTime = usdParts(pricedSwaps, pair, seconds);
      const barsByTime = [...bars]
        .filter(([key]) => key.startsWith(`${seconds} ${pair} `) && key.endsWith(' 1'))
        .map(([key, bar]) => ({ time: Number(key.split(' ')[2]), bar }))
        .sort((a, b) => a.time - b.time);
      const barsInQuote = barsByTime
        .filter(({ bar }) => !Number.isNaN(bar.open))
        .map(({ time, bar }) => plainBar(time, bar, usdByTime.get(time)!, swap, baseFirst));
      const barsInUsd = barsByTime.flatMap(({ time, bar }) => {
        const usdPart = usdByTime.get(time)!;
        const barInQuote = plainBar(time, bar, usdPart, swap, baseFirst);
        const [firstPrice, lastPrice] = [usdPart.prices[0], usdPart.prices.at(-1)];
        if (firstPrice === undefined || lastPrice === undefined) return [];
        return [
          {
            ...barInQuote,
            open: firstPrice,
            close: lastPrice,
            high: Math.max(...usdPart.prices),
            low: Math.min(...usdPart.prices),
          },
        ];
      });
      for (const [currency, expected] of [
        ['quote', barsInQuote],
        ['usd', barsInUsd],
      ] as const) {
        const request = { ...defaultsWith(currency), pair: pair as Hex, timeframe, limit: BARS_MAX };
        const { data } = await getPairSeries(source, head, request);
        const title = `of ${pair} in ${timeframe} in ${currency}`;
        if (data.length !== expected.length)
          wrong.push(`${data.length} bars ${title}, ${expected.length} expected`);
        const wrongIndex = expected.findIndex(
          (bar, index) =>
            !isSame(data[index], bar) || data[index]?.closed !== bar.time + seconds <= head.timestamp,
        );
        if (wrongIndex >= 0)
          wrong.push(
            `the bar ${title} is ${JSON.stringify(data[wrongIndex])}, ${JSON.stringify(expected[wrongIndex])} expected`,
          );
      }
    }
  }
  return wrong.slice(0, 3);
}

const defaultsWith = (currency: Currency) =>
  ({ to: null, currency, fill: false, invert: false, base: null, quote: null }) as const;

interface UsdPart {
  /** Prices of the swaps in canonical order. Swaps without a price are left out. */
  readonly prices: number[];
  volume: bigint;
}

function usdParts(pricedSwaps: readonly PricedSwap[], pair: string, seconds: number): Map<number, UsdPart> {
  const parts = new Map<number, UsdPart>();
  for (const swap of pricedSwaps) {
    if (swap.pair !== pair || swap.leg !== 1) continue;
    const time = Math.floor(swap.timestamp / seconds) * seconds;
    const part = parts.get(time) ?? { prices: [], volume: 0n };
    if (swap.priceUsd > 0) part.prices.push(swap.priceUsd);
    part.volume += swap.amountUsd ?? 0n;
    parts.set(time, part);
  }
  return parts;
}

function isSame(
  answered: { readonly [K in keyof PlainBar]: PlainBar[K] | string | null } | undefined,
  bar: PlainBar,
): boolean {
  if (answered === undefined) return false;
  return (Object.keys(bar) as (keyof PlainBar)[]).every((key) => isClose(Number(answered[key]), bar[key]));
}

function plainBar(
  time: number,
  bar: OracleBar,
  usd: UsdPart,
  { token0, token1 }: { readonly token0: string; readonly token1: string },
  baseFirst: boolean,
): PlainBar {
  const [decimals0, decimals1] = [simDecimals(token0 as Hex), simDecimals(token1 as Hex)];
  const scale = 10 ** (decimals0 - decimals1);
  const toBasePrice = (price: number): number => (baseFirst ? price * scale : 1 / (price * scale));
  const buys = baseFirst ? bar.outs0 : bar.outs1;
  const toWholeTokens = (amount: bigint, decimals: number): number => Number(amount) / 10 ** decimals;
  return {
    time,
    open: toBasePrice(bar.open),
    high: toBasePrice(baseFirst ? bar.high : bar.low),
    low: toBasePrice(baseFirst ? bar.low : bar.high),
    close: toBasePrice(bar.close),
    volume: baseFirst ? toWholeTokens(bar.volume0, decimals0) : toWholeTokens(bar.volume1, decimals1),
    volume_usd: Number(usd.volume) / USD_UNITS,
    trades: bar.trades,
    buys,
    sells: bar.trades - buys,
  };
}
