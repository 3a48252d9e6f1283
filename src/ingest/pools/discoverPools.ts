/**
 * Discovers pools that are older than the first stored block: addresses that emit pool events without a known
 * creation event. A configured factory must confirm each pool, because any contract can emit pool events.
 * Then the node provides the pool's state.
 */
import { AbiCoder } from 'ethers';

import type { ChainBlock } from '../../domain/block';
import { numberToHex, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import { POOL_V2, POOL_V3, type Dex, type PoolState } from '../../domain/pool';
import type { Logger } from '../../log';
import { toPool, type PoolCreation, type Protocol } from '../../protocols/protocol';
import { callContractsOfOld, callContractsSince, type TaggedCall, type EthCalls } from './contractCalls';
import type { KnownPool, PoolRegistry } from './poolRegistry';
import { Strangers } from './strangers';

/** Largest number of possible pools per batch of calls. */
const CANDIDATES_MAX = 75;

const SELECTORS = {
  token0: '0x0dfe1681',
  token1: '0xd21220a7',
  fee: '0xddca3f43',
  tickSpacing: '0xd0c93a7c',
  slot0: '0x3850c7bd',
  liquidity: '0x1a686502',
  balanceOf: '0x70a08231',
  getPair: '0xe6a43905',
  getPool: '0x1698ee82',
} as const;

/**
 * A discovered pool, the position (`ord`) of its first log, and its state before the block of this log.
 */
export interface DiscoveredPool {
  readonly pool: KnownPool;
  readonly ord: number;
  readonly state: PoolState | null;
}

interface DiscoveryDeps {
  readonly rpc: EthCalls;
  readonly dexes: readonly { readonly dex: Dex; readonly protocol: Protocol }[];
  readonly eventTopics: ReadonlySet<Hex>;
  readonly creationTopics: ReadonlySet<Hex>;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  readonly log: Logger;
}

interface Candidate {
  readonly address: Hex;
  readonly ord: number;
  readonly blockNumber: number;
}

export class PoolDiscovery {
  private readonly strangers = new Strangers();

  constructor(private readonly deps: DiscoveryDeps) {}

  /** Finds unknown pools among the contracts that emitted logs in these blocks. */
  async discover(
    blocks: readonly ChainBlock[],
    registry: PoolRegistry,
    signal?: AbortSignal,
  ): Promise<DiscoveredPool[]> {
    const last = blocks.at(-1);
    if (last === undefined) return [];
    const candidates = this.listCandidates(blocks, registry);
    const discovered: DiscoveredPool[] = [];
    for (let at = 0; at < candidates.length; at += CANDIDATES_MAX) {
      discovered.push(...(await this.ask(candidates.slice(at, at + CANDIDATES_MAX), last, signal)));
    }
    return discovered;
  }

  private listCandidates(blocks: readonly ChainBlock[], registry: PoolRegistry): Candidate[] {
    const { eventTopics, creationTopics, dexes } = this.deps;
    const factories = new Map(dexes.map(({ dex, protocol }) => [dex.factory, protocol]));
    const created = new Set<Hex>();
    const candidates = new Map<Hex, Candidate>();
    for (const block of blocks) {
      for (const log of block.logs) {
        const topic = log.topics[0];
        if (topic === undefined) continue;
        if (creationTopics.has(topic)) {
          const creation = factories.get(log.address)?.decodeCreation(log);
          if (creation != null) created.add(creation.pool);
        }
        if (!eventTopics.has(topic) || candidates.has(log.address) || created.has(log.address)) continue;
        if (this.strangers.isQuiet(log.address, block.number) || registry.findPool(log.address) !== undefined)
          continue;
        const ord = toOrd(block.number, log.logIndex);
        candidates.set(log.address, { address: log.address, ord, blockNumber: block.number });
      }
    }
    return [...candidates.values()];
  }

  private async ask(
    candidates: readonly Candidate[],
    block: ChainBlock,
    signal?: AbortSignal,
  ): Promise<DiscoveredPool[]> {
    const [unreadCalls, unprovenCalls] = [new Set<number>(), new Set<number>()];
    const tokenAnswers = await callContractsSince(
      this.deps.rpc,
      candidates.flatMap(({ address }) =>
        [SELECTORS.token0, SELECTORS.token1, SELECTORS.fee, SELECTORS.tickSpacing].map((data) => ({
          to: address,
          data,
        })),
      ),
      block,
      signal,
      unreadCalls,
    );
    const claims: { candidate: Candidate; creation: PoolCreation; dex: Dex; protocol: Protocol }[] = [];
    candidates.forEach((candidate, index) => {
      const [token0, token1, fee, tickSpacing] = tokenAnswers.slice(index * 4, index * 4 + 4);
      const t0 = addressOf(token0);
      const t1 = addressOf(token1);
      if (t0 === null || t1 === null) return;
      for (const { dex, protocol } of this.deps.dexes) {
        if (protocol.poolType === POOL_V3 && (wordOf(fee) === null || wordOf(tickSpacing) === null)) continue;
        if (protocol.poolType !== POOL_V3 && protocol.poolType !== POOL_V2) continue;
        const v3 = protocol.poolType === POOL_V3;
        const feePips = v3 ? Number(BigInt.asUintN(24, wordOf(fee) ?? 0n)) : null;
        const spacing = v3 ? Number(BigInt.asIntN(24, wordOf(tickSpacing) ?? 0n)) : 0;
        const creation = { pool: candidate.address, token0: t0, token1: t1, feePips, tickSpacing: spacing };
        claims.push({ candidate, creation, dex, protocol });
      }
    });
    const answers = await callContractsSince(
      this.deps.rpc,
      claims.map(({ creation, dex }) => factoryCall(dex.factory, creation)),
      block,
      signal,
      unprovenCalls,
    );
    const proven = claims.filter((claim, index) => addressOf(answers[index]) === claim.candidate.address);
    const pools = new Set(proven.map(({ candidate }) => candidate));
    const unsure = new Set([
      ...[...unreadCalls].map((index) => candidates[Math.floor(index / 4)]),
      ...[...unprovenCalls].map((index) => claims[index]?.candidate),
    ]);
    for (const candidate of candidates) {
      if (pools.has(candidate)) continue;
      if (unsure.has(candidate)) this.strangers.postpone(candidate.address, block.number);
      else this.strangers.add(candidate.address);
    }
    return this.readStates(proven, signal);
  }

  /**
   * Reads the state of each pool at the end of the block before its first log. Null if no node has this
   * state.
   */
  private async readStates(
    proven: readonly { candidate: Candidate; creation: PoolCreation; dex: Dex; protocol: Protocol }[],
    signal?: AbortSignal,
  ): Promise<DiscoveredPool[]> {
    const answers = await callContractsOfOld(
      this.deps.rpc,
      proven.flatMap(({ candidate: { address, blockNumber }, creation }): TaggedCall[] => {
        const blockTag = numberToHex(Math.max(0, blockNumber - 1));
        const balance = SELECTORS.balanceOf + address.slice(2).padStart(64, '0');
        return [
          { to: creation.token0, data: balance, at: blockTag },
          { to: creation.token1, data: balance, at: blockTag },
          { to: address, data: SELECTORS.slot0, at: blockTag },
          { to: address, data: SELECTORS.liquidity, at: blockTag },
        ];
      }),
      signal,
    );
    return proven.map(({ candidate, creation, dex, protocol }, index) => {
      const [balance0, balance1, slot0, liquidity] = answers.slice(index * 4, index * 4 + 4);
      const baseIsToken0 = this.deps.baseIsToken0(creation.token0, creation.token1);
      const pool = { ...toPool(protocol, dex, creation), baseIsToken0 };
      const reserve0 = wordOf(balance0);
      const reserve1 = wordOf(balance1);
      const [price, tickWord, active] = [wordOf(slot0), wordOf(slot0, 1), wordOf(liquidity)];
      this.deps.log.info(
        { pool: pool.address, dex: dex.name },
        'discovered a pool older than the first block',
      );
      if (pool.poolType !== POOL_V3 || reserve0 === null || reserve1 === null)
        return { pool, ord: candidate.ord, state: null };
      // Without its price or its liquidity, a pool would show a false depth.
      if (price === null || tickWord === null || active === null)
        return { pool, ord: candidate.ord, state: null };
      const sqrtPriceX96 = BigInt.asUintN(160, price);
      const tick = Number(BigInt.asIntN(24, tickWord));
      const state = { reserve0, reserve1, sqrtPriceX96, liquidity: BigInt.asUintN(128, active), tick };
      return { pool, ord: candidate.ord, state };
    });
  }
}

function factoryCall(factory: Hex, creation: PoolCreation): Omit<TaggedCall, 'at'> {
  const coder = AbiCoder.defaultAbiCoder();
  const { token0, token1, feePips } = creation;
  const data =
    feePips === null
      ? SELECTORS.getPair + coder.encode(['address', 'address'], [token0, token1]).slice(2)
      : SELECTORS.getPool +
        coder.encode(['address', 'address', 'uint24'], [token0, token1, feePips]).slice(2);
  return { to: factory, data };
}

/** Word `index` (32 bytes) of an answer, or null if the answer is too short. */
function wordOf(data: Hex | null | undefined, index = 0): bigint | null {
  const start = 2 + index * 64;
  if (data == null || data.length < start + 64) return null;
  return BigInt(`0x${data.slice(start, start + 64)}`);
}

function addressOf(data: Hex | null | undefined): Hex | null {
  const word = wordOf(data);
  if (word === null || word >> 160n !== 0n) return null;
  const address: Hex = `0x${word.toString(16).padStart(40, '0')}`;
  return address === ZERO_ADDRESS ? null : address;
}
