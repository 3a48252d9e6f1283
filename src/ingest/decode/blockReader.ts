/**
 * Turns verified blocks into rows with prices: finds pools without a stored creation event, reads token
 * metadata, decodes and prices. Pool states and prices can be loaded from the store, and reset to an earlier
 * block after a reorg.
 */
import { systemClock, withDeadline, type Clock } from '../../node/rpc/clock';
import { RpcError } from '../../node/rpc/rpcError';
import { ODD_KINDS, type OddKind, type TokenRow } from '../../clickhouse/schema/tables';
import type { BlockRef, ChainBlock } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { NATIVE_COIN, NATIVE_DECIMALS, pricedAs } from '../../domain/pools/nativeCoin';
import { createSlices } from '../../domain/time/slices';
import type { Logger } from '../../log';
import type { PricerConfig } from '../../pricing/pricerConfig';
import type { PoolCreation } from '../../protocols/protocol';
import { hasManyTokens } from '../../protocols/registry';
import { BlockPricer } from '../price/blockPricer';
import type { BlockFacts, BlockRows } from '../rows/blockRows';
import { addFoundPools, addTickStates } from './addFoundPools';
import { decodeBlock } from './decodeBlock';
import type { DecodeContext } from './decodeContext';
import type { PoolDiscovery } from '../pools/discoverPools';
import type { ManyTokenDiscovery } from '../pools/discoverManyTokenPools';
import type { EthCalls } from '../../node/calls/askContracts';
import type { PlacedFinding } from '../pools/finding';
import type { FoundPools } from '../pools/foundPools';
import { readCreations } from '../pools/poolDetails';
import { poolOfRow } from '../pools/poolRegistry';
import { unlinked } from '../session/sameChain';
import type { Cursor, Store } from '../store/store';
import { TokenBook } from '../pools/tokenBook';
import { readTokens, type ShowingBlock } from '../pools/tokenMetadata';

/** Largest number of tokens that one reading of blocks asks again, and its time limit in ms. */
const RENEWED_MAX = 40;
const RENEWAL_MS = 3_000;

export interface ReaderDeps {
  readonly store: Store;
  readonly rpc: EthCalls;
  readonly decode: DecodeContext;
  readonly prices: PricerConfig;
  readonly nativeSymbol: string;
  readonly discovery: PoolDiscovery;
  readonly manyTokenDiscovery: ManyTokenDiscovery;
  /**
   * Found pools, from the pool search. If absent, only pools whose own logs appear in the blocks are
   * added.
   */
  readonly foundPools?: FoundPools | undefined;
  /**
   * Compares the senders of these transactions of a block with their signatures. Rejects if one differs. The reader
   * asks for those of final blocks that moved a price. If absent, only the senders of a random sample are compared.
   */
  readonly checkSenders?: (block: ChainBlock, indexes: ReadonlySet<number>) => Promise<void>;
  /** Tokens without metadata that clients asked for. */
  readonly status?: { readonly askedTokens: Set<Hex> };
  readonly log?: Logger | undefined;
  /** The clock; the default is the system clock. */
  readonly clock?: Clock | undefined;
}

export class BlockReader {
  /** Tokens whose Transfer logs do not tell all changes of their balances. */
  private readonly odd = new Map<Hex, OddKind>();
  private readonly tokens = new TokenBook();
  private readonly pricer: BlockPricer;
  private readonly clock: Clock;

  constructor(
    private readonly deps: ReaderDeps,
    /** First block that this database stores. */
    private readonly startBlock: number,
  ) {
    this.clock = deps.clock ?? systemClock();
    const { tokens } = this;
    this.pricer = new BlockPricer(
      deps.prices,
      (token) => tokens.decimalsOf(token),
      (number) => tokens.moveTo(number),
    );
  }

  /**
   * Loads pool states and prices as of the cursor, the last final block. `exact` is passed on to
   * Store.loadPoolStates. Returns the number of pools.
   */
  async load(cursor: Cursor, { exact }: { readonly exact: boolean }): Promise<number> {
    const { store, decode, foundPools } = this.deps;
    const { registry } = decode;
    registry.clear();
    await foundPools?.load(cursor.number, (pool) => this.isKnown(pool));
    const pools = await store.loadPools(cursor.number);
    for (const row of pools) if (!hasManyTokens(row.protocol)) registry.addPool(poolOfRow(row));
    const states = await store.loadPoolStates(cursor.number, exact);
    for (const [address, state] of states) {
      if (registry.findPool(address) !== undefined) registry.setState(address, state);
    }
    const manyTokenRows = pools.filter((row) => hasManyTokens(row.protocol));
    const manyTokenPools = await store.loadManyTokenPools(cursor.number, exact, manyTokenRows);
    for (const pool of manyTokenPools) registry.setManyTokenPool(pool);
    this.tokens.load(await store.listTokens(), cursor.number, pools);
    for (const [token, kind] of await store.listOddTokens()) this.odd.set(token, kind);
    const prices = await store.loadPrices(cursor, this.startBlock, pools);
    this.pricer.load(prices, foundPools?.oldTicks.usedAt(cursor.number));
    return registry.size;
  }

  /**
   * Reads consecutive blocks, each the parent of the next, and passes their rows to `take`. Also adds pools
   * and tokens that first appear in these blocks. `reversible`: a reorg can still replace the blocks.
   */
  async read(
    blocks: readonly ChainBlock[],
    parent: Pick<BlockRef, 'number' | 'hash'>,
    reversible: boolean,
    signal: AbortSignal,
    take: (rows: BlockRows) => void,
  ): Promise<void> {
    const first = blocks[0];
    if (first !== undefined && first.parentHash !== parent.hash) throw unlinked(parent, first);
    const { findings, created } = await this.discover(blocks, reversible, signal);
    const newTokens = new Set<Hex>();
    const odd = new Map<Hex, OddKind>();
    const slices = createSlices(this.clock);
    const all: BlockFacts[] = [];
    for (const [index, block] of blocks.entries()) {
      await slices.step();
      const mine = findings.filter(({ fromBlock }) => fromBlock === block.number);
      const facts = decodeBlock(this.deps.decode, block, mine, reversible, created);
      addFoundPools(this.deps.decode, facts, this.deps.foundPools?.addedBy(block) ?? []);
      addTickStates(this.deps.decode, facts, this.deps.foundPools?.oldTicks.addedBy(block.number) ?? []);
      for (const { token0, token1, tokens } of facts.pools) {
        for (const token of [token0, token1, ...tokens])
          newTokens.add(token).add(pricedAs(token, this.deps.prices.wrappedNative));
      }
      for (const { token } of facts.transfers) if (!this.tokens.has(token)) newTokens.add(token);
      this.addOdd(odd, facts);
      if (!reversible && facts.moved.size > 0) await this.deps.checkSenders?.(block, facts.moved);
      if (facts.lacking.size > 0)
        findings.push(...(await this.askAgain(blocks.slice(index + 1), reversible, signal)));
      all.push(facts);
    }
    // Prices are in whole tokens, so the decimals of all new tokens are read first.
    const last = blocks.at(-1);
    if (last !== undefined) await this.readTokens(newTokens, { ...last, reversible }, signal);
    await this.markOdd(odd);
    for (const facts of all) {
      await slices.step();
      const old = this.deps.foundPools?.oldTicks.addedBy(facts.ref.number);
      take(this.pricer.price(facts, reversible, old));
    }
  }

  /** Like `read`, for blocks that follow all blocks read so far. Then asks again for metadata of some tokens. */
  async readOn(
    blocks: readonly ChainBlock[],
    parent: Pick<BlockRef, 'number' | 'hash'>,
    reversible: boolean,
    signal: AbortSignal,
    take: (rows: BlockRows) => void,
  ): Promise<void> {
    await this.read(blocks, parent, reversible, signal, (rows) => {
      for (const { token0, token1 } of rows.swaps)
        for (const token of [token0, token1]) this.tokens.noteTrade(token);
      take(rows);
    });
    for (const block of blocks) this.tokens.noteEvents(block);
    const askedTokens = this.deps.status?.askedTokens;
    for (const token of askedTokens ?? []) this.tokens.noteRequest(token);
    askedTokens?.clear();
    const last = blocks.at(-1);
    if (last !== undefined) await this.renewTokens({ ...last, reversible }, signal);
  }

  /** Returns whether the pool is known after the last block that was read. */
  isKnown(pool: Hex): boolean {
    const { registry } = this.deps.decode;
    return registry.findPool(pool) !== undefined || registry.findManyTokenPool(pool) !== undefined;
  }

  /** Undoes every block above `number` that is not final. */
  rewindTo(number: number): void {
    this.deps.decode.registry.rewindTo(number);
    this.pricer.rewindTo(number);
    this.tokens.rewindTo(number);
  }

  /** Marks blocks up to `number` as final, and drops the data for undoing them. */
  finalise(number: number): void {
    this.deps.decode.registry.finalise(number);
    this.pricer.finalise(number);
    this.tokens.finalise(number);
    this.deps.foundPools?.forgetBelow(number);
  }

  /**
   * What the node tells about known pools whose state lacks a part. The pools are asked about before their next block, so
   * that the rows do not depend on which blocks are read together.
   */
  private async askAgain(
    blocks: readonly ChainBlock[],
    reversible: boolean,
    signal: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const { decode, manyTokenDiscovery } = this.deps;
    const findings = await manyTokenDiscovery.discover(blocks, decode.registry, reversible, signal);
    return findings.filter(({ pool }) => this.isKnown(pool.address));
  }

  /** The findings that the logs of these blocks cause, and the pools that factories create in them. */
  private async discover(
    blocks: readonly ChainBlock[],
    reversible: boolean,
    signal: AbortSignal,
  ): Promise<{ findings: PlacedFinding[]; created: ReadonlyMap<Hex, PoolCreation> }> {
    const { decode, discovery, manyTokenDiscovery } = this.deps;
    // If ingestion starts at block 1, no pool can be older than the first block.
    const pools = this.startBlock > 1 ? await discovery.discover(blocks, decode.registry, signal) : [];
    const findings = [
      ...pools,
      ...(await manyTokenDiscovery.discover(blocks, decode.registry, reversible, signal)),
    ];
    return { findings, created: await readCreations(this.deps.rpc, decode, blocks, reversible, signal) };
  }

  /**
   * Token metadata is stored before the block's rows become visible, so that readers never see a row without
   * its metadata.
   */
  private async readTokens(
    tokens: ReadonlySet<Hex>,
    block: ShowingBlock,
    signal: AbortSignal,
  ): Promise<void> {
    const fresh = [...tokens].filter((token) => !this.tokens.has(token));
    if (fresh.length === 0) return;
    const { number, reversible } = block;
    const rows = await this.askTokens(fresh, block, signal);
    await this.deps.store.writeTokens(rows.map((row) => this.tokens.addFirst(row, number, reversible)));
  }

  /** The node knows nothing about the native coin, which is no contract. */
  private async askTokens(
    tokens: readonly Hex[],
    block: ShowingBlock,
    signal: AbortSignal,
  ): Promise<TokenRow[]> {
    const { rpc, log, nativeSymbol: symbol } = this.deps;
    const contracts = tokens.filter((token) => token !== NATIVE_COIN);
    const rows = await readTokens(rpc, contracts, block, signal, log);
    if (contracts.length === tokens.length) return rows;
    const coin = { address: NATIVE_COIN, symbol, name: symbol, decimals: NATIVE_DECIMALS };
    return [...rows, { ...coin, version: block.number }];
  }

  /**
   * Asks again for metadata that may have changed, at the end of this block. A failure of the node only delays the
   * tokens.
   */
  private async renewTokens(block: ShowingBlock, signal: AbortSignal): Promise<void> {
    const due = this.tokens.takeDue(block.number, RENEWED_MAX);
    if (due.length === 0) return;
    const late = (): Error => new RpcError('timeout', `no metadata of tokens within ${RENEWAL_MS} ms`);
    try {
      const rows = await withDeadline(this.clock, RENEWAL_MS, signal, late, (inner) =>
        this.askTokens(due, block, inner),
      );
      const { number, reversible } = block;
      const fresh = rows.flatMap((row) => this.tokens.addLater(row, number, reversible) ?? []);
      if (fresh.length > 0) await this.deps.store.writeTokens(fresh);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcError)) throw error;
      this.tokens.putBack(due, block.number);
      const { log } = this.deps;
      if (log === undefined) return;
      log.warn({ tokens: due.length, error: error.message }, 'reading metadata of tokens again failed');
    }
  }

  /**
   * Reads only transfers, because a Deposit or Withdrawal log is among them if no Transfer log explains it. This is normal
   * only for the wrapped native token.
   */
  private addOdd(odd: Map<Hex, OddKind>, { transfers, unreadableTokens }: BlockFacts): void {
    for (const { token, kind } of transfers) {
      const isUnpaired = kind !== 'transfer' && token !== this.deps.prices.wrappedNative;
      if (isUnpaired && !odd.has(token)) odd.set(token, 'unpaired_deposit');
    }
    for (const token of unreadableTokens) odd.set(token, 'unread_transfer');
  }

  /** Stores the marks of odd tokens before the block's rows become visible. */
  private async markOdd(odd: ReadonlyMap<Hex, OddKind>): Promise<void> {
    const isNew = ([token, kind]: readonly [Hex, OddKind]): boolean => {
      const known = this.odd.get(token);
      return known === undefined || ODD_KINDS[kind] > ODD_KINDS[known];
    };
    const fresh = [...odd].filter(isNew);
    if (fresh.length === 0) return;
    const version = Math.floor(this.clock.now());
    await this.deps.store.writeOddTokens(fresh.map(([token, kind]) => ({ token, kind, version })));
    for (const [token, kind] of fresh) this.odd.set(token, kind);
  }
}
