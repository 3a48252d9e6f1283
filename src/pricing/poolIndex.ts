/**
 * The pool index: the pricer's data about legs and tokens. Legs and tokens reference each other, so a route search
 * through hundreds of thousands of pools looks up no address. Every reversible change of a block is recorded in the
 * journal.
 */
import type { Hex } from '../domain/hex';
import {
  BORN_BEFORE,
  DORMANT_SECONDS,
  UNBORN,
  unswappedAt,
  type LegMakers,
  type LegMove,
  type LegMoves,
  type LegRecord,
} from './epoch';
import { otherToken, type IndexedLeg, type IndexedToken, type Moves } from './indexedToken';
import { Journal } from './journal';
import { NO_STATE, type Leg, type LegKey } from './leg';
import type { AnchorPrices } from './market';
import { isRouted, type PriceRoute, type TokenHop } from './priceRoute';
import { LegDepths } from './routes/legDepths';

/** Progress of the pricer. */
interface PricerProgress {
  /** The block last applied. */
  readonly block: number;
  /** Time of the block last applied, unix seconds. */
  readonly time: number;
  /** Whether a block is applied. If the first one is inside an epoch, the record of this epoch is incomplete. */
  readonly ingested: boolean;
  /** The running epoch; null before the first block. */
  readonly epoch: number | null;
  /** First ingested block of the epoch. */
  readonly epochFirst: number;
  /** Time of the last block before the epoch, unix seconds. */
  readonly epochTime: number;
  readonly anchors: AnchorPrices;
}

/** Digits of an address whose number is a small integer of the engine. */
const RANK_DIGITS = 7;

const NO_PROGRESS: PricerProgress = {
  block: -1,
  time: 0,
  ingested: false,
  epoch: null,
  epochFirst: 0,
  epochTime: 0,
  anchors: new Map(),
};

export class PoolIndex {
  readonly journal = new Journal();
  readonly depths = new LegDepths();
  /** Tokens that have a route. */
  readonly routed = new Set<IndexedToken>();
  /**
   * Tokens with a pool whose price or liquidity differs from its mean. A new epoch has new means, so the hop of such a
   * token may change although no pool moved.
   */
  readonly watched = new Set<IndexedToken>();
  private readonly legs = new Map<LegKey, IndexedLeg>();
  private readonly tokens = new Map<Hex, IndexedToken>();
  /** Legs that moved within 30 days, in no order. May also contain some legs that did not. */
  private live: IndexedLeg[] = [];
  /** Legs with moves in the running epoch. */
  private movedLegs: IndexedLeg[] = [];
  private currentProgress = NO_PROGRESS;

  get progress(): PricerProgress {
    return this.currentProgress;
  }

  setProgress(progress: PricerProgress): void {
    const progressBefore = this.currentProgress;
    this.journal.note(() => (this.currentProgress = progressBefore));
    this.currentProgress = progress;
  }

  findLeg(key: LegKey): IndexedLeg | undefined {
    return this.legs.get(key);
  }

  findToken(address: Hex): IndexedToken | undefined {
    return this.tokens.get(address);
  }

  /** Finds or creates the token of an address. */
  tokenOf(address: Hex): IndexedToken {
    const knownToken = this.tokens.get(address);
    if (knownToken !== undefined) return knownToken;
    // The fields that route searches read come first, so that they share a line of the processor's cache.
    const token: IndexedToken = {
      address,
      rank: parseInt(address.slice(2, 2 + RANK_DIGITS), 16),
      search: null,
      found: null,
      isLeaf: false,
      groups: null,
      live: [],
      groupPrice: null,
      route: null,
      hop: null,
      legs: [],
    };
    this.tokens.set(address, token);
    return token;
  }

  /** Adds a leg. Returns null if the leg already exists; that leg stays unchanged. */
  addLeg(leg: Leg, older: boolean): IndexedLeg | null {
    if (this.legs.has(leg.key)) return null;
    const { key, pair, number, token0, token1 } = leg;
    const first = this.tokenOf(token0);
    const second = this.tokenOf(token1);
    // Fields are listed, because an object made by spreads holds them in a second object, and the pricing of a block
    // then takes 1.6 times as long.
    const entry: IndexedLeg = {
      id: this.legs.size,
      first,
      second,
      key,
      pair,
      number,
      token0,
      token1,
      isVault: leg.isVault ?? false,
      older,
      state: NO_STATE,
      record: undefined,
      moves: null,
      isLive: false,
      makers: [],
      bornBlock: older ? BORN_BEFORE : UNBORN,
    };
    this.legs.set(key, entry);
    for (const token of [first, second]) token.legs.push(entry);
    this.journal.note(() => {
      this.legs.delete(key);
      this.depths.delete(entry);
      for (const token of [first, second]) token.legs.pop();
      if (entry.isLive) this.dropLive(new Set([entry]));
    });
    return entry;
  }

  /**
   * Sets the state of a leg at the end of a block, as a move of the running epoch. `unswapped` is the part of
   * ln(price) that came without a swap.
   */
  move(leg: IndexedLeg, move: LegMove, unswapped: number, bornBlock: number): void {
    const moves = this.movesOf(leg);
    const legBefore = { state: leg.state, bornBlock: leg.bornBlock, unswapped: moves.unswapped };
    moves.blocks.push(move);
    moves.unswapped = unswapped;
    leg.state = move.state;
    leg.bornBlock = bornBlock;
    this.journal.note(() => {
      moves.blocks.pop();
      moves.unswapped = legBefore.unswapped;
      leg.state = legBefore.state;
      leg.bornBlock = legBefore.bornBlock;
    });
  }

  /** Adds traded whole token1 to a leg. `makers`: all makers of the leg so far, up to two. */
  trade(leg: IndexedLeg, amount: number, makers: LegMakers): void {
    const moves = this.movesOf(leg);
    const { traded } = moves;
    const { makers: makersBefore } = leg;
    moves.traded = traded + amount;
    leg.makers = makers;
    this.journal.note(() => {
      moves.traded = traded;
      leg.makers = makersBefore;
    });
  }

  /**
   * The part of a leg's ln(price) that came without a swap, as of the start of the running epoch or the last
   * move.
   */
  unswappedOf({ moves, record }: IndexedLeg): number {
    return moves === null ? unswappedAt(record, this.currentProgress.epochTime) : moves.unswapped;
  }

  private movesOf(leg: IndexedLeg): Moves {
    if (leg.moves !== null) return leg.moves;
    const moves: Moves = {
      leg,
      older: leg.older,
      blocks: [],
      traded: 0,
      unswapped: this.unswappedOf(leg),
    };
    leg.moves = moves;
    const { movedLegs } = this;
    movedLegs.push(leg);
    this.journal.note(() => {
      leg.moves = null;
      movedLegs.pop();
    });
    return moves;
  }

  /** Ends the running epoch: makes a record of every leg that moved in it. */
  closeEpoch(close: (before: LegRecord | undefined, moves: LegMoves) => LegRecord): LegRecord[] {
    const { movedLegs } = this;
    const records = movedLegs.flatMap((leg) => {
      const { moves, record: recordBefore } = leg;
      if (moves === null) return [];
      const { makers, bornBlock } = leg;
      const record = close(recordBefore, { makers, bornBlock, ...moves });
      this.journal.note(() => {
        leg.moves = moves;
        this.putRecord(leg, recordBefore);
      });
      leg.moves = null;
      this.setRecord(leg, record);
      return [record];
    });
    this.journal.note(() => {
      this.movedLegs = movedLegs;
      // What follows from the records belongs to the time of the newest search, which is undone.
      for (const leg of this.live) this.putRecord(leg, leg.record);
    });
    this.movedLegs = [];
    return records;
  }

  /** Sets the state and the record of a leg that did not move in any ingested block. */
  adopt(leg: IndexedLeg, record: LegRecord): void {
    const { state, record: recordBefore } = leg;
    leg.state = record.state;
    this.journal.note(() => {
      leg.state = state;
      this.putRecord(leg, recordBefore);
    });
    this.setRecord(leg, record);
  }

  /** Loads a record from the store. */
  loadRecord(record: LegRecord): void {
    const leg = this.legs.get(record.leg.key);
    if (leg === undefined) return;
    leg.state = record.state;
    leg.makers = record.makers;
    leg.bornBlock = record.bornBlock;
    this.setRecord(leg, record);
  }

  /**
   * Sets the newest record of a leg, and lists the leg as one that moved within 30 days. Undoing the record
   * leaves the leg in this list, which may contain other legs too.
   */
  private setRecord(leg: IndexedLeg, record: LegRecord): void {
    this.putRecord(leg, record);
    if (!leg.isLive) this.addLive(leg);
  }

  /** What follows from the record is computed when the next search needs it. */
  private putRecord(leg: IndexedLeg, record: LegRecord | undefined): void {
    leg.record = record;
    leg.first.groupPrice = null;
    leg.second.groupPrice = null;
    this.depths.add(leg);
  }

  /** Removes legs that did not move for 30 days from the live legs. */
  dropDormant(time: number): void {
    const dormant = this.live.filter(
      ({ record }) => record !== undefined && time - record.movedAt > DORMANT_SECONDS,
    );
    if (dormant.length === 0) return;
    this.dropLive(new Set(dormant));
    this.journal.note(() => {
      for (const leg of dormant) if (!leg.isLive) this.addLive(leg);
    });
  }

  private addLive(leg: IndexedLeg): void {
    leg.isLive = true;
    this.live.push(leg);
    for (const token of [leg.first, leg.second]) {
      token.live.push(leg);
      token.isLeaf = hasOneNeighbour(token);
    }
  }

  private dropLive(legs: ReadonlySet<IndexedLeg>): void {
    const tokens = new Set<IndexedToken>();
    for (const leg of legs) {
      leg.isLive = false;
      tokens.add(leg.first).add(leg.second);
    }
    this.live = this.live.filter(({ isLive }) => isLive);
    for (const token of tokens) {
      token.live = token.live.filter(({ isLive }) => isLive);
      token.isLeaf = hasOneNeighbour(token);
    }
  }

  /** Sets the route of a token; `noRoute` removes it. */
  setRoute(token: IndexedToken, route: PriceRoute<IndexedLeg>): void {
    const routeBefore = token.route;
    this.journal.note(() => {
      token.route = routeBefore;
      this.noteRouted(token);
    });
    token.route = route;
    this.noteRouted(token);
  }

  private noteRouted(token: IndexedToken): void {
    if (isRouted(token.route)) this.routed.add(token);
    else this.routed.delete(token);
  }

  setHop(token: IndexedToken, hop: TokenHop): void {
    const hopBefore = token.hop;
    this.journal.note(() => (token.hop = hopBefore));
    token.hop = hop;
  }

  setWatched(token: IndexedToken, watched: boolean): void {
    if (this.watched.has(token) === watched) return;
    this.journal.note(() => this.toggleWatched(token));
    this.toggleWatched(token);
  }

  private toggleWatched(token: IndexedToken): void {
    if (!this.watched.delete(token)) this.watched.add(token);
  }
}

/** Whether all live legs of the token lead to one other token. */
function hasOneNeighbour(token: IndexedToken): boolean {
  const [firstLeg] = token.live;
  if (firstLeg === undefined) return false;
  const neighbour = otherToken(firstLeg, token);
  return token.live.every((leg) => otherToken(leg, token) === neighbour);
}
