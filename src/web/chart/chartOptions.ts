/** What a view gives to its chart and gets from it. */
import type { Timeframe } from '../../domain/timeframes.ts';
import type { ActivityItem } from '../../wire/activity';
import type { App } from '../core/app.ts';
import type { Query } from '../core/api.ts';
import type { TradeFrame } from '../list/tradeFrame.ts';
import type { ChartUnit } from './chartLegend.ts';

export interface Choice<C extends string> {
  readonly timeframe: Timeframe;
  readonly currency: C;
  /** Null for bars with one source. */
  readonly source: string | null;
  /** The maker whose trades are marked. */
  readonly maker: string | null;
}

export interface ChartPanelOptions<C extends string> {
  readonly app: App;
  /** API path of the bars, such as `/pairs/0x…/ticks`. */
  readonly path: string;
  readonly fileName: string;
  readonly currencies: readonly (readonly [value: C, label: string])[];
  readonly timeframe: Timeframe;
  readonly currency: C;
  /** The currency in which the price is the inverse of the price in the currency before it; for pairs. */
  readonly inverse?: C;
  /** Sources of the prices (parameter `source`) to choose from, the default first; empty for bars with one source. */
  readonly sources?: readonly (readonly [value: string, label: string])[];
  /** The source shown first. */
  readonly source?: string;
  /** The query of the bars in a currency. */
  readonly queryOf: (currency: C) => Query;
  readonly unitOf: (currency: C) => ChartUnit;
  /** The filter of /activity for the trades of the chart, and the token that they are seen from. */
  readonly trades: { readonly filter: Query; readonly frameOf: (currency: C) => TradeFrame };
  readonly maker: string | null;
  readonly emptyText: string;
  readonly signal: AbortSignal;
  /** Called with the selection, which the view writes into the address bar. */
  readonly onchoice: (choice: Choice<C>) => void;
}

export interface ChartPanel {
  readonly element: HTMLElement;
  reloadLastSoon(): void;
  reload(): void;
  /** Marks a trade of the stream if the chosen maker made it. */
  addActivity(item: ActivityItem): void;
  /** Marks the trades of a maker, and shows the chart. If they are marked already, removes the marks. */
  toggleMaker(maker: string): void;
}
