/**
 * Legs that moved within the last 30 days, by token, with their newest records: of a chain's legs a few in a hundred, and all that
 * routes are found by. An index of the records, made anew from them whenever those go back.
 */
import type { Hex } from '../domain/hex';
import type { LegRecord } from './epoch';
import type { Leg, LegKey } from './leg';

/** Pools that did not move for 30 days are left out. */
export const DORMANT_SECONDS = 30 * 86_400;

/** The same object as long as the leg is not dormant. */
export interface LiveLeg {
  readonly leg: Leg;
  readonly record: LegRecord;
}

export class LiveLegs {
  private readonly byKey = new Map<LegKey, { readonly leg: Leg; record: LegRecord }>();
  private readonly byToken = new Map<Hex, LiveLeg[]>();

  constructor(records: Iterable<LegRecord> = []) {
    for (const record of records) this.note(record);
  }

  /** The leg's record is this one from now on. */
  note(record: LegRecord): void {
    const { leg } = record;
    const known = this.byKey.get(leg.key);
    if (known !== undefined) {
      known.record = record;
      return;
    }
    const live = { leg, record };
    this.byKey.set(leg.key, live);
    for (const token of [leg.token0, leg.token1]) {
      const others = this.byToken.get(token);
      if (others === undefined) this.byToken.set(token, [live]);
      else others.push(live);
    }
  }

  /** Forgets what is dormant at a time, which never goes back. */
  dropDormant(time: number): void {
    const dormant = new Set<LiveLeg>();
    for (const [key, live] of this.byKey) {
      if (time - live.record.movedAt <= DORMANT_SECONDS) continue;
      dormant.add(live);
      this.byKey.delete(key);
    }
    const tokens = new Set<Hex>();
    for (const { leg } of dormant) tokens.add(leg.token0).add(leg.token1);
    for (const token of tokens) {
      const left = this.of(token).filter((live) => !dormant.has(live));
      if (left.length === 0) this.byToken.delete(token);
      else this.byToken.set(token, left);
    }
  }

  /** In no order. */
  of(token: Hex): readonly LiveLeg[] {
    return this.byToken.get(token) ?? [];
  }
}
