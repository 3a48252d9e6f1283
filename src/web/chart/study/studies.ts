/** The indicators that a user can choose, with their lengths, colours and lines. Pure. */
import type { Bar } from '../../../wire/ticks';
import { STUDY_NAMES, type StudyName } from '../chartSettings.ts';
import {
  bollingerBands,
  exponentialAverage,
  relativeStrength,
  simpleAverage,
  volumeAverage,
  type Values,
} from './indicators.ts';

export const STUDY_TITLES: Readonly<Record<StudyName, readonly [label: string, explanation: string]>> = {
  volume: ['Volume', 'Volume of each bar in USD, in a pane of its own'],
  ma: ['MA 20', 'Mean of the last 20 closes'],
  ema: ['EMA 20', 'Exponential average of the closes, length 20'],
  vwap: [
    'VWAP',
    'Mean of (high + low + close) / 3 by volume since 00:00 UTC; for 1d bars, since the first of the month',
  ],
  bollinger: [
    'Bollinger 20, 2',
    'Mean of the last 20 closes, and two standard deviations above and below it',
  ],
  rsi: ['RSI 14', 'Relative strength index after Wilder, length 14, in a pane of its own'],
};

/** The bars of a chart, with their length and whether the period of the VWAP is complete. */
export interface StudiedBars {
  readonly bars: readonly Bar[];
  readonly barSeconds: number;
  /** Whether there are no older bars. */
  readonly isWhole: boolean;
}

export interface StudyLine {
  readonly study: StudyName;
  /** Name of the line in the CSV. */
  readonly column: string;
  readonly label: string;
  /** Name of the colour in the style sheet. */
  readonly color: string;
  readonly values: Values;
}

/** The lines of the chosen indicators. The volume has no line. */
export function linesOf(names: readonly StudyName[], studied: StudiedBars): StudyLine[] {
  const closes = studied.bars.map(({ close }) => close);
  return STUDY_NAMES.filter((name) => names.includes(name)).flatMap((name) =>
    LINES_OF_STUDY[name](closes, studied),
  );
}

const studyLine = (
  study: StudyName,
  column: string,
  label: string,
  color: string,
  values: Values,
): StudyLine => ({
  study,
  column,
  label,
  color,
  values,
});

const LINES_OF_STUDY: Readonly<
  Record<StudyName, (closes: readonly number[], studied: StudiedBars) => readonly StudyLine[]>
> = {
  volume: () => [],
  ma: (closes) => [studyLine('ma', 'ma_20', 'MA', '--s1', simpleAverage(closes, 20))],
  ema: (closes) => [studyLine('ema', 'ema_20', 'EMA', '--s0', exponentialAverage(closes, 20))],
  vwap: (_, { bars, barSeconds, isWhole }) => [
    studyLine('vwap', 'vwap', 'VWAP', '--s3', volumeAverage(bars, barSeconds, isWhole)),
  ],
  bollinger: (closes) => {
    const { upper, middle, lower } = bollingerBands(closes, 20, 2);
    return [
      studyLine('bollinger', 'bollinger_upper', 'BB', '--s5', upper),
      studyLine('bollinger', 'bollinger_middle', '', '--s5', middle),
      studyLine('bollinger', 'bollinger_lower', '', '--s5', lower),
    ];
  },
  rsi: (closes) => [studyLine('rsi', 'rsi_14', 'RSI', '--s3', relativeStrength(closes, 14))],
};
