/** Connects lightweight-charts, which knows only UTC, with the time zone of the chart. */
import {
  defaultHorzScaleBehavior,
  type IHorzScaleBehavior,
  type TickMark,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';

import { formatTick, toClock, type Zone } from './timeZones.ts';

/** The API's times are unix seconds, which the library calls UTCTimestamp. */
export function toTime(timestamp: number): UTCTimestamp {
  return timestamp as UTCTimestamp;
}

type Points = Parameters<IHorzScaleBehavior<Time>['fillWeightsForPoints']>[0];

/** Least weights that the library gives to the first tick of a year, a month and a day. */
const [YEAR_WEIGHT, MONTH_WEIGHT, DAY_WEIGHT] = [70, 60, 50];

/** A time scale whose days begin at midnight of the zone. The library calls the function each time data is set. */
export function zonedScale(getZone: () => Zone): IHorzScaleBehavior<Time> {
  class ZonedScale extends defaultHorzScaleBehavior() {
    override formatTickmark({ originalTime, weight }: TickMark): string {
      const unit =
        weight >= YEAR_WEIGHT
          ? 'year'
          : weight >= MONTH_WEIGHT
            ? 'month'
            : weight >= DAY_WEIGHT
              ? 'day'
              : 'time';
      return formatTick(Number(originalTime), unit, getZone());
    }

    /** The library keeps labels of ticks. Labels of another zone may be among them. */
    override shouldResetTickmarkLabels(): boolean {
      return true;
    }

    override fillWeightsForPoints(points: Points, startIndex: number): void {
      const movedPoints = points.map((point) => ({
        ...point,
        time: this.convertHorzItemToInternal(toTime(toClock(Number(point.originalTime), getZone()))),
      }));
      super.fillWeightsForPoints(movedPoints, startIndex);
      points.forEach((point, index) => {
        point.timeWeight = movedPoints[index]?.timeWeight ?? point.timeWeight;
      });
    }
  }
  return new ZonedScale();
}
