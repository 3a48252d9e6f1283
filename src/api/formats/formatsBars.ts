/** Converts bars to columns for the table formats. */
import type { Bar, TicksMeta } from '../../wire/ticks';
import { bitsOf, bitsOrNull, type AnswerTable } from './formats';

interface BarsAnswer {
  readonly data: readonly Bar[];
  readonly meta: Pick<TicksMeta, 'next_to'>;
}

export function tableOfBars({ data, meta }: BarsAnswer): AnswerTable {
  return {
    query: 'formats/list_bars',
    columns: {
      time: data.map(({ time }) => time),
      open_bits: data.map(({ open }) => bitsOf(open)),
      high_bits: data.map(({ high }) => bitsOf(high)),
      low_bits: data.map(({ low }) => bitsOf(low)),
      close_bits: data.map(({ close }) => bitsOf(close)),
      volume_bits: data.map(({ volume }) => bitsOf(volume)),
      volume_usd_bits: data.map(({ volume_usd }) => bitsOrNull(volume_usd)),
      trades: data.map(({ trades }) => trades),
      buys: data.map(({ buys }) => buys),
      sells: data.map(({ sells }) => sells),
      closed: data.map(({ closed }) => Number(closed)),
      limit: Math.max(1, data.length),
    },
    next: meta.next_to === null ? null : { to: String(meta.next_to) },
  };
}
