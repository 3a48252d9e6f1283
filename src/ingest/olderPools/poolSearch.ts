/**
 * The pool search: a background task that finds what a start after block 1 leaves out. It finds the pools
 * of the factories that are older than the start block, the times of their creation, the ticks of their V3 pools,
 * and the supplies of tokens. Creation events are read backwards from the start block, so the newest pools are found
 * first. The calls per second are limited. A restart continues where the search ended. Failures are logged, and the
 * same range of blocks is tried again.
 */
import type { Clock } from '../../node/rpc/clock';
import type { EndpointPool } from '../../node/rpc/endpointPool';
import { RpcError, type RpcErrorKind } from '../../node/rpc/rpcError';
import type { Database } from '../../clickhouse/client/database';
import { shapeOf } from '../../domain/pools/poolShape';
import type { Hex } from '../../domain/hex';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import type { ManyTokenDiscovery } from '../pools/discoverManyTokenPools';
import type { Finding } from '../pools/finding';
import { ADDED_MAX, type FoundPools } from '../pools/foundPools';
import type { OldTickRange } from '../pools/oldTicks';
import type { IngestStatus } from '../session/status';
import { CallBudget } from './callBudget';
import { readFactoryLogs, readFactoryReceipts, type OlderPool, type SearchedDexes } from './factoryLogs';
import { readPairCounts, readPairsAt } from './listAllPairs';
import { countStored } from './storedPools';
import { storeBirths } from './readBirths';
import { CALLS_PER_POOL, CALLS_PER_MANY_TOKEN_POOL, readOldStates } from './readOldStates';
import { readOldTicks } from './readOldTicks';
import { listUnread, type UnreadPool } from './unreadPools';
import { listUnaskedTokens, storeSupplies } from './readSupplies';
import {
  loadProgress,
  saveProgress,
  type SearchProgress,
  readSearchBlock,
  type SearchBlock,
} from './searchProgress';
import { repeatStep } from '../../workers/repeatStep';

const PAUSE_MS = 250;
const FAILED_MS = 3_000;
/** After the search is complete, new tokens are looked up at this interval, in ms, if there are new blocks. */
const IDLE_MS = 15_000;
const LOG_EVERY_MS = 5_000;
/**
 * Number of blocks per eth_getLogs: the first value, and the limit. If the node refuses a range, the next one
 * is smaller.
 */
const SPAN_BLOCKS = 10_000;
const SPAN_MAX = 100_000;
/** A range has at most this part of all blocks to search, so that the progress of a short search can be seen too. */
const RANGES_MIN = 20;
/** Number of pools whose states are read in one batch. */
const POOLS_MAX = 50;
const PAIRS_MAX = 100;
/** Number of pools whose ticks or bins are read in one batch. */
const TICKED_MAX = 10;
/**
 * After the node has refused a single block this many times, the search assumes that the node has no older
 * logs.
 */
const REFUSALS_MAX = 3;

/** Connection failures. They do not mean that the requested range is too large. */
const PASSING: ReadonlySet<RpcErrorKind> = new Set(['network', 'rate_limited', 'refused']);

interface PoolSearchDeps {
  readonly database: Database;
  readonly rpc: Pick<EndpointPool, 'call' | 'batchOutcomes'>;
  readonly chainId: number;
  readonly dexes: SearchedDexes;
  readonly manyTokenDiscovery: ManyTokenDiscovery;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  readonly found: FoundPools;
  readonly status: Pick<IngestStatus, 'phase' | 'poolSearch' | 'blocks'>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Unix time in milliseconds, for the versions of rows. `clock` only measures how much time has passed. */
  readonly now: () => number;
  readonly callsPerSecond: number;
  /** Burn addresses, treasuries and lockers. Their balances are needed to compute the circulating supply. */
  readonly watched: readonly Hex[];
}

export class PoolSearch {
  private readonly budget: CallBudget;
  private progress: SearchProgress | null = null;
  private span = SPAN_BLOCKS;
  private spanMax = SPAN_MAX;
  private refusals = 0;
  private loggedAt = -Infinity;
  private suppliesAt = -Infinity;
  private ticksAt = -Infinity;

  constructor(private readonly deps: PoolSearchDeps) {
    this.budget = new CallBudget(deps.clock, deps.callsPerSecond);
  }

  /**
   * Runs until the signal aborts. Returns early if the index begins at block 1, because then nothing is
   * missing. Never rejects.
   */
  run(signal: AbortSignal): Promise<void> {
    const { clock, status, log } = this.deps;
    const step = async (): Promise<number | 'idle' | null> => {
      if (status.poolSearch.state === 'whole') return null;
      // The backfill finishes first, because its blocks add pools too.
      if (status.phase !== 'follow') return PAUSE_MS;
      return (await this.step(signal)) ? 0 : 'idle';
    };
    const onFailure = (error: string): void =>
      log.warn({ error }, 'reading the history before the start block failed; retrying');
    const idle = { ms: IDLE_MS, input: () => status.blocks };
    return repeatStep(clock, { firstMs: PAUSE_MS, failedMs: FAILED_MS, idle, step, onFailure }, signal);
  }

  /** Does a limited part of the work. Resolves to true if work remains. */
  async step(signal: AbortSignal): Promise<boolean> {
    const { database, chainId, status, dexes } = this.deps;
    const block = await readSearchBlock(database, chainId);
    if (block === null) return false;
    if (block.startBlock <= 1) {
      status.poolSearch.state = 'whole';
      return false;
    }
    if (this.progress === null) {
      this.progress = await loadProgress(database, chainId, dexes, block.startBlock);
      const { start_block: start, search_to: end } = this.progress;
      this.spanMax = Math.min(SPAN_MAX, Math.max(1, Math.ceil((start - end) / RANGES_MIN)));
      this.span = Math.min(SPAN_BLOCKS, this.spanMax);
      this.report();
    }
    const { progress } = this;
    const isOpen = progress.state === 'searching';
    await this.readTicks(signal);
    const more = (await this.readTokens(block, isOpen, signal)) || isOpen;
    if (isOpen) await this.searchOn(progress, block, signal);
    return more;
  }

  private async searchOn(progress: SearchProgress, block: SearchBlock, signal: AbortSignal): Promise<void> {
    if (progress.searched_from > progress.search_to) await this.searchLogs(progress, signal);
    // Pools of a block that is still to come are not stored yet, and `finish` reads the stored pools. So it waits.
    else if (this.deps.found.isAhead) await this.deps.clock.sleep(PAUSE_MS, signal);
    else await this.finish(progress, block, signal);
  }

  /** Reads the creation events of the next range, towards older blocks. */
  private async searchLogs(progress: SearchProgress, signal: AbortSignal): Promise<void> {
    const { rpc, dexes } = this.deps;
    const to = progress.searched_from - 1;
    const from = Math.max(progress.search_to, to - this.span + 1);
    await this.spend(1, signal);
    let pools: OlderPool[];
    try {
      pools = await readFactoryLogs(rpc, dexes, { from, to }, signal);
    } catch (error) {
      if (!(error instanceof RpcError) || signal.aborted) throw error;
      if (to > from) {
        // Nodes refuse a range that is too large with any code, status and text.
        if (error.isAnswer || !PASSING.has(error.kind)) this.shrink(to - from + 1);
        if (PASSING.has(error.kind)) throw error;
        return;
      }
      const found = await this.searchReceipts(progress, to, error, signal);
      if (found === null) return;
      pools = found;
    }
    this.refusals = 0;
    const before = progress.pools;
    await this.birth(pools, signal);
    if (!(await this.add(pools, signal))) return;
    await this.save({ ...progress, searched_from: from, pools: before + pools.length });
    if (pools.length > 0) this.deps.found.refresh();
    this.spanMax = Math.min(SPAN_MAX, this.spanMax + Math.ceil(this.spanMax / 8));
    this.span = Math.min(this.spanMax, this.span * 2);
  }

  private shrink(refused: number): void {
    this.span = Math.max(1, Math.floor(refused / 4));
    this.spanMax = this.span * 2;
  }

  /**
   * Reads the creation events of a block from its receipts, after the node refused its logs with `error`. Returns null
   * if the node seems to have no older logs. @throws `error` if the block is to be tried again
   */
  private async searchReceipts(
    progress: SearchProgress,
    block: number,
    error: RpcError,
    signal: AbortSignal,
  ): Promise<OlderPool[] | null> {
    const { rpc, dexes, log } = this.deps;
    await this.spend(1, signal);
    try {
      return await readFactoryReceipts(rpc, dexes, block, signal);
    } catch (second) {
      if (!(second instanceof AppError) || signal.aborted) throw second;
    }
    if (PASSING.has(error.kind)) throw error;
    this.refusals += 1;
    if (this.refusals < REFUSALS_MAX) throw error;
    log.warn({ block, error: errorText(error) }, 'the node has no logs below this block');
    await this.save({ ...progress, search_to: progress.searched_from });
    return null;
  }

  private async birth(pools: readonly OlderPool[], signal: AbortSignal): Promise<void> {
    const { database, rpc, now } = this.deps;
    for (let at = 0; at < pools.length; at += POOLS_MAX) {
      const some = pools.slice(at, at + POOLS_MAX);
      await this.spend(new Set(some.map((pool) => pool.block)).size, signal);
      await storeBirths({ database, rpc, version: Math.floor(now() * 1_000) }, some, signal);
    }
  }

  /**
   * At the end of the search, compares the number of known pools with the list of pairs in each V2 factory,
   * and adds pools whose creation logs the node no longer has.
   */
  private async finish(progress: SearchProgress, block: SearchBlock, signal: AbortSignal): Promise<void> {
    const { rpc, database, dexes, found, log } = this.deps;
    const factories = dexes.pairs.filter(({ protocol }) => protocol.listsPools);
    await this.spend(factories.length, signal);
    const counts = await readPairCounts(rpc, factories, block, signal);
    const storedCounts = await countStored(database, block);
    /** Pairs of the factories before this one. */
    let pairsBefore = 0;
    let { pools } = progress;
    let reached = progress.listed;
    for (const [index, factory] of factories.entries()) {
      const count = counts[index] ?? 0;
      if ((storedCounts.get(factory.dex.factory) ?? 0) < count) {
        for (let at = Math.max(0, reached - pairsBefore); at < count; at += PAIRS_MAX) {
          const size = Math.min(PAIRS_MAX, count - at);
          await this.spend(size, signal);
          const range = { from: at, count: size };
          const fresh = await readPairsAt(rpc, factory, range, block, (pool) => found.isKnown(pool), signal);
          await this.spend(2 * fresh.length, signal);
          if (!(await this.add(fresh, signal))) return;
          pools += fresh.length;
          reached = pairsBefore + at + size;
          await this.save({ ...progress, pools, listed: reached });
        }
      }
      pairsBefore += count;
    }
    const isWhole = this.isWhole(progress);
    await this.save({ ...progress, pools, listed: reached, state: isWhole ? 'complete' : 'incomplete' });
    found.refresh({ isUrgent: true });
    const facts = { pools, searchedFrom: progress.searched_from };
    if (isWhole) log.info(facts, 'all older pools of the factories are listed');
    else log.warn(facts, 'the node has no older logs, so older pools may be missing');
  }

  /**
   * Returns whether the logs of each factory without a list of pairs were readable from the factory's first
   * block on.
   */
  private isWhole({ searched_from: from }: SearchProgress): boolean {
    const { pairs, manyTokens } = this.deps.dexes;
    const others = pairs.filter(({ protocol }) => !protocol.listsPools).map(({ dex }) => dex);
    return [...others, ...manyTokens].every((dex) => from <= (dex.startBlock ?? 0));
  }

  /**
   * Reads the states of pools that are not known yet, and waits until they are recorded. Resolves to false if a reorg
   * removed the block of the states; the next step then reads the rest again.
   */
  private async add(all: readonly OlderPool[], signal: AbortSignal): Promise<boolean> {
    const { database, chainId, found } = this.deps;
    const pools = all.filter(({ address }) => !found.isKnown(address));
    const block = await readSearchBlock(database, chainId);
    if (block === null) return false;
    const offered: Hex[] = [];
    const offers: Finding[] = [];
    for (let at = 0; at < pools.length; at += POOLS_MAX) {
      const chunk = pools.slice(at, at + POOLS_MAX);
      const calls = chunk.map(({ poolId }) => (poolId === null ? CALLS_PER_POOL : CALLS_PER_MANY_TOKEN_POOL));
      await this.spend(
        calls.reduce((sum, one) => sum + one, 0),
        signal,
      );
      // A pool of many tokens of an unknown type has no state, so it is not offered.
      const findings = await readOldStates(this.deps, chunk, block, signal);
      offered.push(...findings.map(({ pool }) => pool.address));
      offers.push(...(await this.withTicks(findings, block, signal)));
      if (offers.length >= ADDED_MAX) await found.offer(offers.splice(0), block, signal);
    }
    await found.offer(offers, block, signal);
    // `offer` returns when the pools are recorded. One is missing only if a reorg removed the block of its state.
    return offered.every((pool) => found.isKnown(pool));
  }

  /**
   * Reads the ticks and bins of pools that the session found by their own logs. Each batch uses a new block, because many nodes
   * have only the states of recent blocks.
   */
  private async readTicks(signal: AbortSignal): Promise<void> {
    const { database, chainId, clock, found } = this.deps;
    const { oldTicks } = found;
    if (oldTicks.isWaiting || clock.now() - this.ticksAt < LOG_EVERY_MS) return;
    this.ticksAt = clock.now();
    const first = await readSearchBlock(database, chainId);
    const pools = first === null ? [] : await listUnread(database, first);
    for (let at = 0; at < pools.length; at += TICKED_MAX) {
      const block = await readSearchBlock(database, chainId);
      if (block === null) return;
      oldTicks.offer(await this.ticksOf(pools.slice(at, at + TICKED_MAX), block, signal));
    }
  }

  private ticksOf(
    pools: readonly UnreadPool[],
    block: SearchBlock,
    signal: AbortSignal,
  ): Promise<OldTickRange[]> {
    const { database, rpc } = this.deps;
    const spend = (calls: number): Promise<void> => this.spend(calls, signal);
    return readOldTicks({ database, rpc, spend }, pools, block, signal);
  }

  /**
   * Adds the ticks and bins of pools to their states. Those of pools without liquidity at the current price are left out;
   * they are read later.
   */
  private async withTicks(
    findings: readonly Finding[],
    block: SearchBlock,
    signal: AbortSignal,
  ): Promise<Finding[]> {
    const pools = findings.flatMap(({ pool, state }) => {
      const { address, protocol, factory, id = null, tickSpacing: tick_spacing, poolType: pool_type } = pool;
      const { isWalked, hasTicks } = shapeOf(pool_type);
      const isReady = isWalked && 'liquidity' in state && (hasTicks ? state.liquidity > 0n : state.tick > 0);
      return isReady ? [{ address, protocol, factory, pool_id: id, tick_spacing, pool_type }] : [];
    });
    const ranges = await this.ticksOf(pools, block, signal);
    return findings.map((finding) => {
      const ticks = ranges.find(({ pair }) => pair === finding.pool.address);
      return ticks === undefined ? finding : { ...finding, ticks };
    });
  }

  /** Reads the supplies of a batch of tokens. Resolves to true if more tokens remain. */
  private async readTokens(block: SearchBlock, isOpen: boolean, signal: AbortSignal): Promise<boolean> {
    const { database, rpc, now, clock, status, found, watched } = this.deps;
    if (isOpen && clock.now() - this.suppliesAt < LOG_EVERY_MS) return false;
    const tokens = await listUnaskedTokens(database, block, watched);
    const isRead = tokens.length === 0;
    // Once the status says that all supplies are read, answers must have them.
    if (isRead && !status.poolSearch.suppliesRead) found.refresh({ isUrgent: true });
    status.poolSearch.suppliesRead = isRead;
    if (isRead) {
      this.suppliesAt = clock.now();
      return false;
    }
    await this.spend((watched.length + 1) * tokens.length, signal);
    const deps = { database, rpc, version: Math.floor(now() * 1_000), holders: watched };
    await storeSupplies(deps, tokens, block, signal);
    found.refresh();
    return true;
  }

  private async spend(calls: number, signal: AbortSignal): Promise<void> {
    await this.budget.spend(calls, signal);
    this.deps.status.poolSearch.calls += calls;
  }

  private async save(progress: SearchProgress): Promise<void> {
    await saveProgress(this.deps.database, progress, this.deps.now());
    this.progress = progress;
    this.report();
  }

  private report(): void {
    const { progress } = this;
    const { status, log, clock } = this.deps;
    if (progress === null) return;
    const { start_block, searched_from, search_to, pools, state } = progress;
    Object.assign(status.poolSearch, {
      state,
      startBlock: start_block,
      searchedFrom: searched_from,
      searchTo: search_to,
      pools,
    });
    if (state !== 'searching' || clock.now() - this.loggedAt < LOG_EVERY_MS) return;
    this.loggedAt = clock.now();
    const percent = percentOf(progress);
    log.info(
      { searchedFrom: searched_from, searchTo: search_to, pools, percent },
      'searching for older pools',
    );
  }
}

function percentOf({ start_block: start, searched_from: from, search_to: to }: SearchProgress): number {
  return start <= to ? 100 : Math.floor(((start - from) / (start - to)) * 1_000) / 10;
}
