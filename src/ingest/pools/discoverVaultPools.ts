/**
 * Finds the pools of configured Balancer V2 vaults in blocks about to be decoded, and asks once per pool what no event
 * tells: whether and how it is weighted. Pools older than the first ingested block also need their books. A pool that
 * answers nothing is not listed; a node that fails is an error that will be tried again, never a guess.
 */
import type { ChainBlock, ChainLog } from '../../domain/block';
import { isHash, numberToHex, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import type { Dex } from '../../domain/pool';
import type { Logger } from '../../log';
import {
  decodeBalancerEvent,
  POOL_REGISTERED,
  poolOfId,
  SWAP_FEE_CHANGED,
  VAULT_TOPICS,
} from '../../protocols/balancerV2';
import {
  decodePoolTokens,
  decodeSwapFee,
  poolFactCalls,
  poolTokensCall,
  readPoolFacts,
  SELECTORS,
} from '../../protocols/weightedCalls';
import {
  emptyWeightedPool,
  fillState,
  pickDefaultLeg,
  toFeePips,
  withBalances,
  withWeights,
  type WeightedPoolState,
} from '../../protocols/weightedPool';
import {
  callContracts,
  callContractsOfOld,
  callContractsSince,
  type BlockTag,
  type TaggedCall,
} from './contractCalls';
import type { EthCalls } from './ethCalls';
import type { PoolRegistry, VaultPool } from './poolRegistry';

/** Gas of one call: more than any pool needs, little enough that one which burns it all answers in time. */
const CALL_GAS: Hex = '0x1c9c380';
/** Pool ids remembered as not to be listed; beyond it the memory starts anew. */
const STRANGERS_MAX = 200_000;
/** What decoding takes up at the start of a block. */
export interface FoundVaultPool {
  /** The pool with its state before the block's first log of it; of one already listed, what its state may lack. */
  readonly vaultPool: VaultPool;
  readonly blockNumber: number;
  /** How it is to be listed; null: it is listed, only its books are news. */
  readonly listed: {
    /** Of PoolRegistered, or of the first log seen of a pool older than the first block. */
    readonly ord: number;
    readonly created: { readonly block: number; readonly at: number; readonly tx: Hex } | null;
  } | null;
}

export interface VaultDiscoveryDeps {
  readonly rpc: EthCalls;
  /** Those whose `factory` is a vault. */
  readonly dexes: readonly Dex[];
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  /** As in domain/orientPool. */
  readonly quoteRank: (token: Hex) => number;
  readonly log: Logger;
}

interface Registration {
  readonly tokens: readonly Hex[];
  /** What decoding begins with: the later changes of the fee are read as they come. */
  readonly swapFee: bigint;
  /** Of the row: as the transaction leaves it. */
  readonly feeAfter: bigint;
}

/** A pool that cannot be decoded before something is known of it. */
interface Candidate {
  readonly dex: Dex;
  readonly poolId: Hex;
  readonly block: ChainBlock;
  readonly log: ChainLog;
  /** What the transaction that registers it says; null: it is older, or known already. */
  readonly created: Registration | null;
  readonly known: VaultPool | null;
}

type FactCall = Omit<TaggedCall, 'at'>;
type AskFacts = (calls: readonly FactCall[]) => Promise<(Hex | null)[]>;

function atBlock(calls: readonly FactCall[], blockHash: Hex): TaggedCall[] {
  return calls.map((call) => ({ ...call, at: { blockHash } }));
}

export class VaultDiscovery {
  private readonly strangers = new Set<Hex>();

  constructor(private readonly deps: VaultDiscoveryDeps) {}

  /**
   * What is to be taken up at the start of some of these linked blocks. `reversible`: they may be reorganised, so the
   * questions are of these very blocks; else what never changes may also be asked of a newer one.
   */
  async discover(
    blocks: readonly ChainBlock[],
    registry: PoolRegistry,
    reversible: boolean,
    signal?: AbortSignal,
  ): Promise<FoundVaultPool[]> {
    const last = blocks.at(-1);
    if (last === undefined || this.deps.dexes.length === 0) return [];
    const candidates = this.listCandidates(blocks, registry);
    if (candidates.length === 0) return [];
    // Facts that never change once the pool is there; of these very blocks while they may be reorganised.
    const ask: AskFacts = (calls) =>
      reversible
        ? callContracts(this.deps.rpc, atBlock(calls, last.hash), signal)
        : callContractsSince(this.deps.rpc, calls, last, signal);
    const fresh = candidates.filter(({ known }) => known === null);
    const able = await this.list(fresh, ask);
    // A contract may register several ids: the first one counts.
    const listed = able.filter(
      ({ pool }, at) => able.findIndex((other) => other.pool.address === pool.address) === at,
    );
    if (this.strangers.size > STRANGERS_MAX) this.strangers.clear();
    for (const { poolId } of fresh) {
      if (!listed.some(({ state }) => state.poolId === poolId)) this.strangers.add(poolId);
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
          if (own && lacksBooks(known.state)) candidates.set(poolId, { ...candidate, created: null });
        } else if (topic === POOL_REGISTERED) {
          // Without its tokens it is left to the event that brings them.
          const created = readRegistration(block, log);
          if (created !== null) candidates.set(poolId, { ...candidate, created });
        } else if (!this.strangers.has(poolId)) {
          candidates.set(poolId, { ...candidate, created: null });
        }
      }
    }
    return [...candidates.values()];
  }

  /** Every log passes here: comparing with the few vaults costs less than hashing for a set. */
  private dexOf(vault: Hex): Dex | null {
    for (const dex of this.deps.dexes) if (dex.factory === vault) return dex;
    return null;
  }

  /** Those to be listed, with all that is known of them without their books. */
  private async list(
    candidates: readonly Candidate[],
    ask: AskFacts,
  ): Promise<{ candidate: Candidate; pool: VaultPool['pool']; state: WeightedPoolState }[]> {
    const older = candidates.filter(({ created }) => created === null);
    const books = await ask(older.map(({ dex, poolId }) => poolTokensCall(dex.factory, poolId)));
    const tokensOf = new Map(
      older.map(({ poolId }, index) => [poolId, decodePoolTokens(books[index] ?? null)?.tokens]),
    );
    const calls = candidates.map(({ poolId }) => poolFactCalls(poolOfId(poolId)));
    const answers = await ask(calls.flat().map((call) => ({ ...call, gas: CALL_GAS })));
    let next = 0;
    return candidates.flatMap((candidate, index) => {
      const { dex, poolId, created } = candidate;
      const mine = answers.slice(next, (next += calls[index]?.length ?? 0));
      const tokens = created?.tokens ?? tokensOf.get(poolId) ?? [];
      const facts = readPoolFacts(mine, tokens.length);
      if (facts === null) return [];
      const begun = { ...emptyWeightedPool(poolId), tokens, swapFee: created?.swapFee ?? 0n };
      // Made in this block: the vault holds nothing of it yet. Older: unknown until the books are read.
      const balanced = created === null ? begun : withBalances(begun, { tokens: [], balances: [] });
      const state = withWeights(balanced, facts.weights);
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
   * Balances and fee of older pools at the end of the block before their first log here. A node that keeps no such state
   * leaves them unknown: then the pool has no price until some later block's state could be had.
   */
  private async readBooks(
    open: readonly { candidate: Candidate; pool: VaultPool['pool']; state: WeightedPoolState }[],
    reversible: boolean,
    signal?: AbortSignal,
  ): Promise<FoundVaultPool[]> {
    const asked = open.filter(({ candidate: { created } }) => created === null);
    const answers = await callContractsOfOld(
      this.deps.rpc,
      asked.flatMap(({ candidate: { dex, poolId, block } }): TaggedCall[] => {
        const at: BlockTag = reversible
          ? { blockHash: block.parentHash }
          : numberToHex(Math.max(0, block.number - 1));
        const fee = { to: poolOfId(poolId), data: SELECTORS.getSwapFeePercentage };
        return [
          { ...poolTokensCall(dex.factory, poolId), at },
          { ...fee, gas: CALL_GAS, at },
        ];
      }),
      signal,
    );
    const read = new Map(
      asked.map(({ state }, index) => [state.poolId, answers.slice(2 * index, 2 * index + 2)]),
    );
    return open.map(({ candidate, pool, state }): FoundVaultPool => {
      const [books = null, fee = null] = read.get(state.poolId) ?? [];
      const after = withBooks(state, books, fee);
      const { block, log, created, known } = candidate;
      if (known !== null)
        return { vaultPool: { pool, state: after }, blockNumber: block.number, listed: null };
      const birth = { block: block.number, at: block.timestamp, tx: log.transactionHash };
      const text = created === null ? 'found a pool older than the first block' : 'a pool was registered';
      this.deps.log.info({ pool: pool.address, dex: pool.dex, books: after.balances.length > 0 }, text);
      return {
        vaultPool: {
          pool: { ...pool, feePips: toFeePips(created?.feeAfter ?? after.swapFee) },
          state: after,
        },
        blockNumber: block.number,
        listed: { ord: toOrd(block.number, log.logIndex), created: created === null ? null : birth },
      };
    });
  }
}

function toKnown(candidate: Candidate) {
  const { known } = candidate;
  return known === null ? [] : [{ candidate, pool: known.pool, state: known.state }];
}

/** No pool's fee is 0 (BasePool.sol): it is then unknown. */
function lacksBooks({ balances, swapFee }: WeightedPoolState): boolean {
  return balances.length === 0 || swapFee === 0n;
}

/** Takes from the answers what the state lacks. */
function withBooks(state: WeightedPoolState, books: Hex | null, fee: Hex | null): WeightedPoolState {
  const read = decodePoolTokens(books);
  const answered = read === null ? emptyWeightedPool(state.poolId) : withBalances(state, read);
  return fillState(state, { ...answered, swapFee: decodeSwapFee(fee) ?? 0n });
}

/**
 * The tokens that the registering transaction names, and its fee, which the pool's constructor announces before the pool
 * is registered (BasePool.sol); other vaults' pools may do so later. Null where no tokens are named or the log is malformed.
 */
function readRegistration(block: ChainBlock, log: ChainLog): Registration | null {
  const registered = decodeBalancerEvent(log);
  if (registered?.kind !== 'pool_registered') return null;
  let tokens: readonly Hex[] | null = null;
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
    if (event?.kind === 'tokens_registered' && event.poolId === registered.poolId) tokens = event.tokens;
  }
  return tokens === null ? null : { tokens, swapFee, feeAfter };
}
