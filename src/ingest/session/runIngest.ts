/**
 * Runs the ingester of one chain: opens sessions, passes new heads to them, and retries with increasing
 * pauses after a retryable failure. A broken invariant or a wrong setting stops the writer. The API continues
 * to answer.
 */
import { BeyondFinality } from '../../node/head/follower';
import type { BlockSource } from '../../node/blocks/blockSource';
import { checkChainId } from '../../node/rpc/checkChainId';
import type { Clock } from '../../node/rpc/clock';
import type { EndpointPool } from '../../node/rpc/endpointPool';
import { createFinality } from '../../node/head/finality';
import { headFeed } from '../../node/head/headFeed';
import type { BlockRef, ChainLog } from '../../domain/block';
import type { ChainDescription, StartBlock } from '../../domain/chainDescription';
import { orientPool, quoteRank } from '../../domain/pools/orientPool';
import { EMPTY_STATE, type Dex } from '../../domain/pool';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import type { Protocol } from '../../protocols/protocol';
import { findManyTokenProtocol, findProtocol, hasBins, hasManyTokens } from '../../protocols/registry';
import type { ReaderDeps } from '../decode/blockReader';
import type { DecodeContext } from '../decode/decodeContext';
import { createTransferDecoder } from '../decode/decodeTransfers';
import { PoolDiscovery } from '../pools/discoverPools';
import { ManyTokenDiscovery } from '../pools/discoverManyTokenPools';
import { PoolRegistry, type KnownPool } from '../pools/poolRegistry';
import type { FoundPools } from '../pools/foundPools';
import type { RangeHashWorker } from '../repair/rangeHashWorker';
import type { GapStore } from '../repair/gapStore';
import { IngestSession, type SessionDeps } from './session';
import type { SessionLimits } from './sessionLimits';
import { clearFailure, noteFailure, type IngestStatus } from './status';
import type { Confirm } from '../store/gates';
import type { Store } from '../store/store';

const BACKOFF_MIN_MS = 500;
const BACKOFF_MAX_MS = 20_000;
/**
 * If the node contradicts a final block, the writer retries for this time in ms and then stops. A node that
 * is only behind recovers within this time.
 */
const CONTRADICTION_MS = 15_000;
/**
 * Upper limit of random commits. A JavaScript number holds them exactly, and two equal commits are very
 * unlikely.
 */
const COMMIT_SPAN = 2 ** 52;

interface IngestOptions {
  readonly store: Store;
  /** Finds lost rows and stores them again. If absent, the ingester does not look for lost rows. */
  readonly gaps?: GapStore | undefined;
  /** Computes and stores range hashes. If absent, no range hashes are stored. */
  readonly rangeHashes?: RangeHashWorker | undefined;
  /** Found pools, from the pool search. If absent, only pools with an event are added. */
  readonly foundPools?: FoundPools | undefined;
  readonly rpc: EndpointPool;
  readonly source: BlockSource;
  /** Throws if the majority of the endpoints has another block. */
  readonly confirm?: Confirm | undefined;
  readonly chain: ChainDescription;
  /** Whether all raw logs of a block are stored. The default is all logs of all blocks. */
  readonly keepsAllLogs?: ((block: number) => boolean) | undefined;
  readonly startBlock: StartBlock;
  /** How blocks become final: by the node's tag `finalized`, or by their depth. */
  readonly finality: 'tag' | number;
  readonly status: IngestStatus;
  readonly log: Logger;
  readonly clock: Clock;
  readonly limits?: Partial<SessionLimits> | undefined;
  readonly terminal?: { readonly isTTY?: boolean; write(text: string): unknown } | undefined;
  /** Ends a running session, so that the next one reads the stored state again. */
  readonly restart?: SessionRestart | undefined;
  /** Called before each retry. May remove the cause of the failure. */
  readonly onFailure?: ((error: unknown) => Promise<void>) | undefined;
  /** Last block to store. The run ends when this block is in the final tables. */
  readonly stopAt?: number | undefined;
}

/** Runs until the signal aborts. Throws only errors for which a retry is useless. */
export async function runIngest(options: IngestOptions, signal: AbortSignal): Promise<void> {
  const { status, log, clock } = options;
  const context = createDecodeContext(options);
  let backoffMs = BACKOFF_MIN_MS;
  let contradictedAt: number | null = null;
  while (!signal.aborted) {
    try {
      return await runSession(options, context, signal, () => {
        backoffMs = BACKOFF_MIN_MS;
        contradictedAt = null;
        clearFailure(status);
      });
    } catch (error) {
      if (signal.aborted) return;
      noteFailure(status, error, clock.now());
      if (error instanceof BeyondFinality) contradictedAt ??= clock.now();
      const mayRecover =
        error instanceof BeyondFinality && clock.now() - (contradictedAt ?? 0) < CONTRADICTION_MS;
      if (isFinal(error) && !mayRecover) {
        status.phase = 'stopped';
        logFatal(error, log);
        throw error;
      }
      status.phase = 'waiting';
      log.error({ error: errorText(error), retryInMs: backoffMs }, 'ingesting failed; retrying');
      await options.onFailure?.(error);
      await clock.sleep(backoffMs, signal).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
    }
  }
}

/** Errors for which a retry is useless. */
const FINAL_CODES: ReadonlySet<AppError['code']> = new Set(['broken_invariant', 'bad_config', 'fenced']);

function logFatal(error: unknown, log: Logger): void {
  const facts = { error: errorText(error) };
  if (error instanceof AppError && error.code === 'fenced')
    log.fatal(facts, 'a newer writer took over; the ingester stops');
  else log.fatal(facts, 'the ingester stops after a fatal error');
}

export function isFinal(error: unknown): boolean {
  return error instanceof AppError && FINAL_CODES.has(error.code);
}

async function runSession(
  options: IngestOptions,
  decode: DecodeContext,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<void> {
  const { rpc, source, chain, status, log, clock, terminal } = options;
  await checkChainId(rpc, chain.chainId, signal);
  const deps: SessionDeps = {
    gaps: options.gaps,
    rangeHashes: options.rangeHashes,
    ...createReaderDeps(options, decode),
    source,
    confirm: options.confirm,
    status,
    log,
    clock,
    limits: options.limits,
    terminal,
    finality: createFinality(source, options.finality, log, options.chain.confirmations),
    now: () => clock.now(),
    newCommit: () => 1 + Math.floor(clock.random() * COMMIT_SPAN),
  };
  const session = await IngestSession.open(deps, () => resolveStart(options, signal), signal);
  try {
    if (options.stopAt === undefined) await follow(session, options, signal, onProgress);
    else await backfillTo(session, options.stopAt, options, signal);
  } finally {
    await session.close();
  }
}

async function follow(
  session: IngestSession,
  { rpc, source, log, clock, restart = new SessionRestart() }: IngestOptions,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<void> {
  const isTaken = (head: BlockRef): boolean => session.isAt(head);
  const renewal = restart.signal;
  const sessionSignal = AbortSignal.any([signal, session.failed, renewal]);
  for await (const head of headFeed({ pool: rpc, source, signal: sessionSignal, log, clock, isTaken })) {
    await session.advanceTo(head);
    onProgress();
  }
  signal.throwIfAborted();
  session.failed.throwIfAborted();
  renewal.throwIfAborted();
}

/** Asks the running session to end, because stored rows were replaced beside it. */
export class SessionRestart {
  private controller = new AbortController();

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  request(reason: string): void {
    const { controller } = this;
    this.controller = new AbortController();
    controller.abort(new AppError('unavailable', reason));
  }
}

export function createReaderDeps(
  options: Pick<IngestOptions, 'store' | 'rpc' | 'source' | 'chain' | 'log' | 'foundPools'>,
  decode: DecodeContext,
): ReaderDeps {
  const { store, rpc, source, chain, log, foundPools } = options;
  const { anchors, wrappedNative, blockSeconds } = chain;
  return {
    checkSenders: (block, indexes) => source.checkSenders(block, indexes),
    store,
    rpc,
    foundPools,
    decode,
    prices: { anchors, wrappedNative, blockSeconds },
    nativeSymbol: chain.nativeSymbol,
    discovery: createDiscovery(options, decode),
    manyTokenDiscovery: new ManyTokenDiscovery({
      rpc,
      dexes: manyTokenDexes(chain),
      baseIsToken0: decode.baseIsToken0,
      quoteRank: (token) => quoteRank(chain, token),
      log,
    }),
  };
}

/** Stores final blocks until block `stopAt` is stored. */
async function backfillTo(
  session: IngestSession,
  stopAt: number,
  { source, finality, chain, log, clock, status, rangeHashes }: IngestOptions,
  signal: AbortSignal,
): Promise<void> {
  const finalityRule = createFinality(source, finality, log, chain.confirmations);
  while (session.finalTo < stopAt) {
    const head = await source.fetchHeader('latest', { signal });
    const final = await finalityRule.finalAt(head, signal);
    status.nodeHead = head.number;
    const to = Math.min(final.number, stopAt);
    if (to > session.finalTo) await session.backfill(to, head);
    else await clock.sleep(BACKOFF_MIN_MS, signal);
  }
  rangeHashes?.poke(session.startBlock, session.finalTo);
  await rangeHashes?.idle();
}

/**
 * Returns the block before the first block to store. The first block is at least 1, because block 0 has no
 * transactions.
 */
async function resolveStart(
  { source, startBlock, log }: IngestOptions,
  signal: AbortSignal,
): Promise<BlockRef> {
  const head = await source.fetchHeader('latest', { signal });
  const wantedStart =
    startBlock.kind === 'absolute' ? startBlock.block : Math.max(1, head.number - startBlock.blocks);
  const firstBlock = Math.max(1, wantedStart);
  if (firstBlock - 1 > head.number) {
    throw new AppError(
      'node_failed',
      `START_BLOCK ${firstBlock} is after the node's head ${head.number}; waiting for the block`,
    );
  }
  const base = await source.fetchHeader(firstBlock - 1, { signal });
  log.info({ firstBlock, head: head.number }, 'first start: ingesting from firstBlock on');
  return { number: base.number, hash: base.hash, parentHash: base.parentHash, timestamp: base.timestamp };
}

/** Lists the DEXes whose pools have two tokens, with their decoders. */
export function configuredDexes(chain: ChainDescription): { dex: Dex; protocol: Protocol }[] {
  return chain.dexes.flatMap((dex) => {
    const protocol = findProtocol(dex.protocol);
    return protocol === null ? [] : [{ dex, protocol }];
  });
}

/** Lists the DEXes whose pools have many tokens. */
export function manyTokenDexes(chain: ChainDescription): Dex[] {
  return chain.dexes.filter(({ protocol }) => hasManyTokens(protocol));
}

/** Creates the decode context of a chain, with an empty pool registry. */
export function createDecodeContext({
  chain,
  status,
  log,
  keepsAllLogs = () => true,
}: Pick<IngestOptions, 'chain' | 'status' | 'log' | 'keepsAllLogs'>): DecodeContext {
  const dexes = configuredDexes(chain);
  const protocolOfDex = new Map(dexes.map(({ dex, protocol }) => [dex.name, protocol]));
  const manyTokenNames = new Set(manyTokenDexes(chain).map(({ protocol }) => protocol));
  const manyTokens = [...manyTokenNames].flatMap((name) => findManyTokenProtocol(name) ?? []);
  const registry = new PoolRegistry();
  const protocolOfFactory = new Map(dexes.map(({ dex, protocol }) => [dex.factory, protocol]));
  const findPoolOf = (item: ChainLog): KnownPool | undefined => {
    const key = protocolOfFactory.get(item.address)?.poolOf?.(item);
    const pool = registry.findPool(key ?? item.address);
    // Equal pools of two managers have the same id.
    return key === undefined || pool?.factory === item.address ? pool : undefined;
  };
  const transfers = createTransferDecoder({
    wrappedNative: chain.wrappedNative,
    positionManagers: new Set(chain.dexes.flatMap(({ positionManager }) => positionManager ?? [])),
    keepsShares: (contract) => hasBins(registry.findPool(contract)?.protocol),
    decodePoolEvent: (item) => {
      const pool = findPoolOf(item);
      if (pool !== undefined)
        return findProtocol(pool.protocol)?.decodeEvent(item, registry.stateOf(pool.address)) ?? null;
      const source = protocolOfFactory.get(item.address);
      const key = source?.poolOf?.(item);
      // The liquidity of a position counts from its first event on, also if its pool becomes known later.
      const isNew = key !== undefined && registry.findPool(key) === undefined;
      return isNew ? (source?.decodeEvent(item, EMPTY_STATE) ?? null) : null;
    },
  });
  status.skippedTransfers = transfers.skipped;
  return {
    chainId: chain.chainId,
    registry,
    dexByFactory: new Map(dexes.map(({ dex }) => [dex.factory, dex])),
    protocolOfDex: (dex) => needDecoder(protocolOfDex.get(dex.name), dex.name),
    protocolOfPool: (pool) => needDecoder(findProtocol(pool.protocol) ?? undefined, pool.protocol),
    findPoolOf,
    eventTopics: new Set(dexes.flatMap(({ protocol }) => [...protocol.eventTopics])),
    creationTopics: new Set(dexes.flatMap(({ protocol }) => [...protocol.creationTopics])),
    hasTokenTransfers: dexes.some(({ protocol }) => protocol.hasTokenTransfers),
    manyTokens: {
      topics: new Set(
        manyTokens.flatMap(({ factoryTopics, poolTopics }) => [...factoryTopics, ...poolTopics]),
      ),
      protocols: manyTokens,
    },
    transfers,
    keepsAllLogs,
    baseIsToken0: (token0, token1) => orientPool(chain, token0, token1),
    onBlockLog: () => {
      status.blockLogs += 1;
    },
    onMalformed: (item: ChainLog) => {
      status.malformedLogs += 1;
      log.debug(
        { address: item.address, topic: item.topics[0], tx: item.transactionHash },
        'skipped a log with malformed data',
      );
    },
    onRefused: (pool, factory) => {
      status.refusedPools += 1;
      log.warn({ pool, factory }, 'refused a pool whose id ends like that of another pool');
    },
  };
}

function needDecoder(protocol: Protocol | undefined, name: string): Protocol {
  if (protocol === undefined) throw new AppError('broken_invariant', `"${name}" has no decoder`);
  return protocol;
}

function createDiscovery(
  options: Pick<IngestOptions, 'rpc' | 'chain' | 'log'>,
  decode: DecodeContext,
): PoolDiscovery {
  return new PoolDiscovery({
    rpc: options.rpc,
    dexes: configuredDexes(options.chain),
    eventTopics: decode.eventTopics,
    creationTopics: decode.creationTopics,
    baseIsToken0: decode.baseIsToken0,
    log: options.log,
  });
}
