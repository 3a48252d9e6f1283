/**
 * The materialized views of the model: plain code computes what each insert adds to the targets. Targets are written
 * one after another, each with its own tokens, so that a crash may skip some.
 */
import type { Fields } from './rowBytes';
import { TokenWindow } from './modelTables';

const TIMEFRAMES = [60, 300, 900, 3600, 14_400, 86_400];
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

type OrdAndPrice = readonly [ord: number, price: number];

/** A whole bar, or a part of a bar that must be merged with other parts. */
export interface BarPart {
  open: OrdAndPrice | null;
  close: OrdAndPrice | null;
  high: number;
  low: number;
  openUsd: OrdAndPrice | null;
  closeUsd: OrdAndPrice | null;
  volume0: bigint;
  volume1: bigint;
  volumeUsd: bigint;
  trades: number;
  buys: number;
}

export interface LatestState {
  readonly ord: number;
  readonly fields: Fields;
}

type Apply = (rows: readonly Fields[]) => void;

interface View {
  readonly target: string;
  readonly source: string;
  readonly window: TokenWindow;
  readonly apply: Apply;
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

export class ModelViews {
  readonly bars = new Map<string, BarPart>();
  readonly dexHours = new Map<string, number>();
  readonly pairTotals = new Map<string, number>();
  readonly poolLatest = new Map<string, LatestState>();
  readonly poolBalances = new Map<string, LatestState>();
  readonly tokenBalances = new Map<string, bigint>();
  readonly holderBalances = new Map<string, bigint>();
  readonly views: readonly View[];

  constructor() {
    const view = (source: string, target: string, apply: Apply): View => ({
      source,
      target,
      apply,
      window: new TokenWindow(),
    });
    this.views = [
      view('swaps', 'bars', (rows) => rows.forEach((row) => this.addToBars(row))),
      view('swaps', 'dex_hours', (rows) =>
        rows.forEach(({ dex, timestamp }) =>
          count(this.dexHours, `${dex} ${Math.floor(Number(timestamp) / 3600)}`),
        ),
      ),
      view('swaps', 'pair_totals', (rows) =>
        rows.forEach(({ pair }) => count(this.pairTotals, String(pair))),
      ),
      view('pool_states', 'pool_latest', (rows) => rows.forEach((row) => takeNewest(this.poolLatest, row))),
      view('pool_states', 'pool_balances', (rows) =>
        rows.forEach((row) => {
          if ((row['balances'] as unknown[]).length > 0 || Number(row['doubts']) > 0)
            takeNewest(this.poolBalances, row);
        }),
      ),
      view('transfers', 'token_balances', (rows) =>
        rows.forEach((row) => addTransfer(this.tokenBalances, row)),
      ),
      view('transfers', 'holder_balances', (rows) =>
        rows.forEach((row) => addTransfer(this.holderBalances, row)),
      ),
    ];
  }

  /** Number of swaps in the aggregates, as the view check counts them. */
  totals(): { name: string; total: number }[] {
    const bars = new Map(TIMEFRAMES.map((timeframe) => [timeframe, 0]));
    for (const [key, bar] of this.bars) {
      const timeframe = Number(key.slice(0, key.indexOf(' ')));
      bars.set(timeframe, (bars.get(timeframe) ?? 0) + bar.trades);
    }
    const sum = (map: ReadonlyMap<string, number>): number => [...map.values()].reduce((a, b) => a + b, 0);
    return [
      ...[...bars].filter(([, total]) => total > 0).map(([name, total]) => ({ name: `bars ${name}`, total })),
      { name: 'dex_hours', total: sum(this.dexHours) },
      { name: 'pair_totals', total: sum(this.pairTotals) },
    ];
  }

  private addToBars(row: Fields): void {
    const timestamp = Number(row['timestamp']);
    for (const timeframe of TIMEFRAMES) {
      const key = `${timeframe} ${row['pair']} ${timestamp - (timestamp % timeframe)} ${row['leg']}`;
      let bar = this.bars.get(key);
      if (bar === undefined) this.bars.set(key, (bar = emptyBar()));
      addSwap(bar, row);
    }
  }
}

function emptyBar(): BarPart {
  return {
    open: null,
    close: null,
    high: 0,
    low: Infinity,
    openUsd: null,
    closeUsd: null,
    volume0: 0n,
    volume1: 0n,
    volumeUsd: 0n,
    trades: 0,
    buys: 0,
  };
}

function addSwap(bar: BarPart, row: Fields): void {
  const ord = Number(row['ord']);
  const price = Number(row['price']);
  const usd = Number(row['price_usd']);
  const amount0 = row['amount0'] as bigint;
  const amount1 = row['amount1'] as bigint;
  if (price > 0) {
    if (bar.open === null || ord < bar.open[0]) bar.open = [ord, price];
    if (bar.close === null || ord > bar.close[0]) bar.close = [ord, price];
    bar.high = Math.max(bar.high, price);
    bar.low = Math.min(bar.low, price);
  }
  if (usd > 0) {
    if (bar.openUsd === null || ord < bar.openUsd[0]) bar.openUsd = [ord, usd];
    if (bar.closeUsd === null || ord > bar.closeUsd[0]) bar.closeUsd = [ord, usd];
  }
  bar.volume0 += absolute(amount0);
  bar.volume1 += absolute(amount1);
  bar.volumeUsd += row['amount_usd'] as bigint;
  bar.trades += 1;
  if ((row['base_is_token0'] === true ? amount0 : amount1) < 0n) bar.buys += 1;
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function takeNewest(newestByPair: Map<string, LatestState>, fields: Fields): void {
  const pair = String(fields['pair']);
  const ord = Number(fields['ord']);
  const knownState = newestByPair.get(pair);
  if (knownState === undefined || ord > knownState.ord) newestByPair.set(pair, { ord, fields });
}

/** Adds to balances by the key `token holder`, modulo 2^256 as a signed number. A transfer from zero to zero
 * only subtracts. */
function addTransfer(balances: Map<string, bigint>, { token, sender, recipient, amount }: Fields): void {
  const add = (holder: unknown, delta: bigint): void => {
    const key = `${token} ${holder}`;
    balances.set(key, BigInt.asIntN(256, (balances.get(key) ?? 0n) + delta));
  };
  add(sender, -(amount as bigint));
  if (sender !== recipient || sender !== ZERO_ADDRESS) add(recipient, amount as bigint);
}
