/**
 * Finds new pools of Balancer V2 vaults in blocks, before the blocks are decoded. Reads each pool's type and
 * weights from the node, and for pools older than the first stored block also balances and fee. A pool
 * without usable answers is ignored. After a node failure the search is retried.
 */
import type { ChainBlock, ChainLog } from '../../domain/block';
import type { ContractCall } from '../../domain/contractCall';
import { isHash, numberToHex, ZERO_HASH, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import type { Dex } from '../../domain/pool';
import type { Logger } from '../../log';
import {
  decodeBalancerEvent,
  POOL_REGISTERED,
  poolOfId,
  SWAP_FEE_CHANGED,
  VAULT_TOPICS,
} from '../../protocols/balancerV2/decodeBalancerEvent';
import {
  booksCalls,
  decodePoolTokens,
  decodeSwapFee,
  poolFactCalls,
  poolTokensCall,
  readBooks,
  readPoolFacts,
  swapFeeCall,
} from '../../protocols/balancerV2/weightedCalls';
import {
  emptyWeightedPool,
  fillState,
  pickDefaultLeg,
  withBalances,
  withManagers,
  withWeights,
  type WeightedPoolState,
} from '../../protocols/balancerV2/weightedPool';
import { toFeePips } from '../../domain/swapFee';
import { askContracts, askSince, type EthCalls } from '../../node/calls/askContracts';
import type { PlacedFinding } from './finding';
import type { PoolRegistry, VaultPool } from './poolRegistry';
import { Strangers } from './strangers';

interface VaultDiscoveryDeps {
  readonly rpc: EthCalls;
  /** DEXes with a vault as their `factory`. */
  readonly dexes: readonly Dex[];
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  /**
   * Ranks a token as quote token. The rank decides whether token0 is the base token, as domain/pools/orientPool.ts
   * defines.
   */
  readonly quoteRank: (token: Hex) => number;
  readonly log: Logger;
}

interface Registration {
  readonly tokens: readonly Hex[];
  readonly managers: readonly Hex[];
  /** Fee at the event PoolRegistered. Later fee changes come from their own logs. */
  readonly swapFee: bigint;
  /** Fee to store in the pool's row: the fee at the end of the transaction. */
  readonly feeAfter: bigint;
}

/** A pool whose values must be read from the node before the block is decoded. */
interface Candidate {
  readonly dex: Dex;
  readonly poolId: Hex;
  readonly block: ChainBlock;
  readonly log: ChainLog;
  /**
   * Values from the transaction that registers the pool. Null if the pool is older than the first block, or
   * already known.
   */
  readonly created: Registration | null;
  readonly known: VaultPool | null;
}

type AskFacts = (calls: readonly (readonly ContractCall[])[]) => ReturnType<typeof askContracts>;

export class VaultDiscovery {
  /** Pool ids of no usable pool, and ids whose values could not be read. */
  private readonly strangers = new Strangers();

  constructor(private readonly deps: VaultDiscoveryDeps) {}

  /**
   * Returns what is needed before these consecutive blocks are decoded: new pools, and for known pools the parts of their
   * states that were missing. A new pool has the position of its registration, or of its first log. `reversible` means that a
   * reorg can still replace the blocks; the calls then name blocks by hash. Otherwise, values that never
   * change may also be read at a newer block.
   */
  async discover(
    blocks: readonly ChainBlock[],
    registry: PoolRegistry,
    reversible: boolean,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const last = blocks.at(-1);
    if (last === undefined || this.deps.dexes.length === 0) return [];
    const candidates = this.listCandidates(blocks, registry);
    if (candidates.length === 0) return [];
    // Reads values that never change once the pool exists.
    const ask: AskFacts = (calls) =>
      askSince(last, reversible, (place) => askContracts(this.deps.rpc, calls, { ...place, signal }));
    const fresh = candidates.filter(({ known }) => known === null);
    const unsure = new Set<Hex>();
    const able = await this.list(fresh, ask, unsure);
    // A contract may register several pool ids. Only the first id is used.
    const listed = able.filter(
      ({ pool }, at) => able.findIndex((other) => other.pool.address === pool.address) === at,
    );
    for (const { poolId, block } of fresh) {
      if (unsure.has(poolId)) this.strangers.postpone(poolId, block.number);
      else if (!listed.some(({ state }) => state.poolId === poolId)) this.strangers.add(poolId);
    }
    const open = [...listed, ...candidates.flatMap(toKnown)];
    return this.readBooks(open, reversible, signal);
  }

  private listCandidates(blocks: readonly ChainBlock[], registry: PoolRegistry): Candidate[] {
    const candidates = new Map<Hex, Candidate>();
    for (const block of blocks) {
      for (const log of block.logs) {
        const dex = this.dexOf(log.address);
        if (dex === null) continue;
        const [topic, poolId] = log.topics;
        if (topic === undefined || !VAULT_TOPICS.has(topic) || !isHash(poolId)) continue;
        const address = poolOfId(poolId);
        if (candidates.has(poolId)) continue;
        const known = registry.findVaultPool(address) ?? null;
        const candidate = { dex, poolId, block, log, known };
        if (known !== null) {
          const own = known.state.poolId === poolId && known.pool.factory === log.address;
          const isQuiet = this.strangers.isQuiet(poolId, block.number);
          if (own && lacksBooks(known.state) && !isQuiet)
            candidates.set(poolId, { ...candidate, created: null });
        } else if (topic === POOL_REGISTERED) {
          // Some registrations have no tokens yet. A later event names the tokens, and the pool is added at
          // that event.
          const created = readRegistration(block, log);
          if (created !== null) candidates.set(poolId, { ...candidate, created });
        } else if (!this.strangers.isQuiet(poolId, block.number)) {
          candidates.set(poolId, { ...candidate, created: null });
        }
      }
    }
    return [...candidates.values()];
  }

  /** Called for every log. There are few vaults, so comparing with each vault is faster than a set. */
  private dexOf(vault: Hex): Dex | null {
    for (const dex of this.deps.dexes) if (dex.factory === vault) return dex;
    return null;
  }

  /**
   * Returns the pools to add, complete except for the balances and fees of older pools. Adds the ids of pools with
   * malformed answers to `unsure`: without all their facts, they could get false weights.
   */
  private async list(
    candidates: readonly Candidate[],
    ask: AskFacts,
    unsure: Set<Hex>,
  ): Promise<{ candidate: Candidate; pool: VaultPool['pool']; state: WeightedPoolState }[]> {
    const older = candidates.filter(({ created }) => created === null);
    const lists = await ask(older.map(({ dex, poolId }) => [poolTokensCall(dex.factory, poolId)]));
    const tokensOf = new Map<Hex, readonly Hex[] | null>();
    older.forEach(({ poolId }, index) => {
      const { answers: [tokens = null] = [], isUnsure = false } = lists[index] ?? {};
      tokensOf.set(poolId, decodePoolTokens(tokens));
      if (isUnsure) unsure.add(poolId);
    });
    const answers = await ask(candidates.map(({ poolId }) => poolFactCalls(poolOfId(poolId))));
    return candidates.flatMap((candidate, index) => {
      const { dex, poolId, created } = candidate;
      const { answers: mine = [], isUnsure = false } = answers[index] ?? {};
      if (isUnsure) unsure.add(poolId);
      if (unsure.has(poolId)) return [];
      const tokens = created?.tokens ?? tokensOf.get(poolId) ?? [];
      const managers = created?.managers ?? [];
      const facts = readPoolFacts(mine, tokens.length);
      if (facts === null) return [];
      const begun = { ...emptyWeightedPool(poolId), tokens, swapFee: created?.swapFee ?? 0n };
      // A pool that is created in this block starts with balances of zero. The balances of an older pool are
      // unknown until the node returns them.
      const balanced = created === null ? begun : withBalances(begun, { tokens: [], balances: [] });
      const state = withManagers(withWeights(balanced, facts.weights), managers);
      const pool = this.toPool(dex, state, facts.poolType);
      return pool === null ? [] : [{ candidate, pool, state }];
    });
  }

  private toPool(dex: Dex, state: WeightedPoolState, poolType: 4 | 5): VaultPool['pool'] | null {
    const leg = pickDefaultLeg(state, this.deps.quoteRank);
    const token0 = state.tokens[leg?.first ?? -1];
    const token1 = state.tokens[leg?.second ?? -1];
    if (token0 === undefined || token1 === undefined) return null;
    return {
      address: poolOfId(state.poolId),
      dex: dex.name,
      protocol: dex.protocol,
      poolType,
      factory: dex.factory,
      token0,
      token1,
      feePips: toFeePips(state.swapFee),
      tickSpacing: 0,
      baseIsToken0: this.deps.baseIsToken0(token0, token1),
    };
  }

  /**
   * Reads the balances and fees of older pools at the end of the block before their first log. If the node does not
   * have this state, the pool has no price until a later state can be read.
   */
  private async readBooks(
    open: readonly { candidate: Candidate; pool: VaultPool['pool']; state: WeightedPoolState }[],
    reversible: boolean,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const olderPools = open.filter(({ candidate: { created } }) => created === null);
    const contractAnswers = await askContracts(
      this.deps.rpc,
      olderPools.map(({ candidate: { dex, poolId }, state: { tokens } }) => [
        swapFeeCall(poolOfId(poolId)),
        ...booksCalls(dex.factory, poolId, tokens),
      ]),
      {
        at: (index) => {
          const { parentHash = ZERO_HASH, number = 1 } = olderPools[index]?.candidate.block ?? {};
          return reversible ? { blockHash: parentHash } : numberToHex(Math.max(0, number - 1));
        },
        missing: 'null',
        signal,
      },
    );
    const read = new Map(
      olderPools.map(({ state: { poolId }, candidate: { block } }, index) => {
        const { answers = [], isUnsure = false } = contractAnswers[index] ?? {};
        if (isUnsure) this.strangers.postpone(poolId, block.number);
        return [poolId, answers];
      }),
    );
    return open.map(({ candidate, pool, state: begun }): PlacedFinding => {
      const [fee = null, ...books] = read.get(begun.poolId) ?? [];
      const state = withBooks(begun, books, fee);
      const { block, log, created, known } = candidate;
      const place = {
        fromBlock: block.number,
        ord: toOrd(block.number, log.logIndex),
        createdTx: created === null ? null : log.transactionHash,
      };
      if (known !== null) return { pool, state, ...place };
      const text =
        created === null ? 'discovered a pool older than the first block' : 'a vault registered a new pool';
      this.deps.log.info({ pool: pool.address, dex: pool.dex, books: state.balances.length > 0 }, text);
      const feePips = toFeePips(created?.feeAfter ?? state.swapFee);
      return { pool: { ...pool, feePips }, state, ...place };
    });
  }
}

function toKnown(candidate: Candidate) {
  const { known } = candidate;
  return known === null ? [] : [{ candidate, pool: known.pool, state: known.state }];
}

/**
 * Returns whether balances or fee are unknown. A fee of 0 means unknown, because BasePool.sol forbids a zero
 * fee.
 */
function lacksBooks({ balances, swapFee }: WeightedPoolState): boolean {
  return balances.length === 0 || swapFee === 0n;
}

/** Fills in only the missing parts of the state. */
function withBooks(
  state: WeightedPoolState,
  bookAnswers: readonly (Hex | null)[],
  feeAnswer: Hex | null,
): WeightedPoolState {
  const read = readBooks(bookAnswers, state.tokens);
  const answered = read === null ? emptyWeightedPool(state.poolId) : withBalances(state, read);
  const doubts = state.doubts | (read?.doubts ?? 0);
  return fillState(state, { ...answered, doubts, swapFee: decodeSwapFee(feeAnswer) ?? 0n });
}

/**
 * Tokens and fee from the registering transaction. The pool's constructor emits the fee before the
 * registration (BasePool.sol). Pools of other vaults may emit the fee later. Null if the log is malformed or
 * names no tokens.
 */
function readRegistration(block: ChainBlock, log: ChainLog): Registration | null {
  const registered = decodeBalancerEvent(log);
  if (registered?.kind !== 'pool_registered') return null;
  let tokens: readonly Hex[] | null = null;
  let managers: readonly Hex[] = [];
  let swapFee = 0n;
  let feeAfter = 0n;
  for (const other of block.logs) {
    if (other.transactionHash !== log.transactionHash) continue;
    if (other.address === registered.pool && other.topics[0] === SWAP_FEE_CHANGED) {
      const event = decodeBalancerEvent(other);
      if (event?.kind !== 'swap_fee_changed') continue;
      feeAfter = event.swapFee;
      if (other.logIndex < log.logIndex) swapFee = event.swapFee;
    }
    if (tokens !== null || other.address !== log.address || other.logIndex < log.logIndex) continue;
    const event = decodeBalancerEvent(other);
    if (event?.kind !== 'tokens_registered' || event.poolId !== registered.poolId) continue;
    tokens = event.tokens;
    managers = event.assetManagers;
  }
  return tokens === null ? null : { tokens, managers, swapFee, feeAfter };
}
