/**
 * Discovers pools that are older than the first stored block: addresses that emit pool events without a known
 * creation event. A configured factory must confirm each pool, because any contract can emit pool events.
 * Then the node provides the pool's state.
 */
import type { ChainBlock } from '../../domain/block';
import { callData, readAddress, type ContractCall } from '../../domain/contractCall';
import { numberToHex, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import { EMPTY_STATE, type Dex } from '../../domain/pool';
import type { Logger } from '../../log';
import { toPool, type PoolCreation, type Protocol } from '../../protocols/protocol';
import { askContracts, askSince, type EthCalls } from '../../node/calls/askContracts';
import type { PlacedFinding } from './finding';
import { withDetails } from './poolDetails';
import type { PoolRegistry } from './poolRegistry';
import { Strangers } from './strangers';

/** Largest number of possible pools per batch of calls. */
const CANDIDATES_MAX = 75;

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

/** A pool as its contract describes it. The factory of the DEX must confirm it. */
interface Claim {
  readonly candidate: Candidate;
  readonly creation: PoolCreation;
  readonly dex: Dex;
  readonly protocol: Protocol;
}

export class PoolDiscovery {
  private readonly strangers = new Strangers();

  constructor(private readonly deps: DiscoveryDeps) {}

  /** Finds unknown pools among the contracts that emitted logs in these blocks. */
  async discover(
    blocks: readonly ChainBlock[],
    registry: PoolRegistry,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const last = blocks.at(-1);
    if (last === undefined) return [];
    const candidates = this.listCandidates(blocks, registry);
    const discovered: PlacedFinding[] = [];
    for (let at = 0; at < candidates.length; at += CANDIDATES_MAX) {
      discovered.push(...(await this.ask(candidates.slice(at, at + CANDIDATES_MAX), last, signal)));
    }
    return discovered;
  }

  private listCandidates(blocks: readonly ChainBlock[], registry: PoolRegistry): Candidate[] {
    const { eventTopics, dexes } = this.deps;
    const created = this.listCreated(blocks);
    const factories = new Set(dexes.map(({ dex }) => dex.factory));
    const candidates = new Map<Hex, Candidate>();
    for (const block of blocks) {
      for (const log of block.logs) {
        const topic = log.topics[0];
        if (topic === undefined || !eventTopics.has(topic)) continue;
        if (candidates.has(log.address) || created.has(log.address) || factories.has(log.address)) continue;
        if (this.strangers.isQuiet(log.address, block.number) || registry.findPool(log.address) !== undefined)
          continue;
        const ord = toOrd(block.number, log.logIndex);
        candidates.set(log.address, { address: log.address, ord, blockNumber: block.number });
      }
    }
    return [...candidates.values()];
  }

  /** Pools that factories create in these blocks. The first log of such a pool may come before its creation event. */
  private listCreated(blocks: readonly ChainBlock[]): Set<Hex> {
    const { creationTopics, dexes } = this.deps;
    const factories = new Map(dexes.map(({ dex, protocol }) => [dex.factory, protocol]));
    const created = blocks.flatMap(({ logs }) =>
      logs.flatMap((log) => {
        if (!creationTopics.has(log.topics[0] ?? '0x')) return [];
        return factories.get(log.address)?.decodeCreation(log)?.pool ?? [];
      }),
    );
    return new Set(created);
  }

  private async ask(
    candidates: readonly Candidate[],
    block: ChainBlock,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const { rpc, dexes } = this.deps;
    const ask = (calls: readonly (readonly ContractCall[])[]) =>
      askSince(block, false, (place) => askContracts(rpc, calls, { ...place, signal }));
    const names = [...new Set(dexes.flatMap(({ protocol }) => protocol.factCalls))];
    const factAnswers = await ask(
      candidates.map(({ address: to }) => names.map((name) => ({ to, data: callData(name) }))),
    );
    const unsure = new Set(candidates.filter((_, index) => factAnswers[index]?.isUnsure === true));
    const claims = candidates.flatMap((candidate, index) => {
      const { answers = [] } = factAnswers[index] ?? {};
      const answerByName = new Map(names.map((name, at) => [name, answers[at] ?? null]));
      return dexes.flatMap(({ dex, protocol }): Claim[] => {
        const creation = protocol.readFacts(candidate.address, answerByName);
        return creation === null ? [] : [{ candidate, dex, protocol, creation }];
      });
    });
    const factoryAnswers = await ask(
      claims.map(({ creation, dex, protocol }) => protocol.confirmCalls(dex.factory, creation)),
    );
    const proven = claims.filter(({ candidate }, index) => {
      const { answers = [], isUnsure = false } = factoryAnswers[index] ?? {};
      if (isUnsure) unsure.add(candidate);
      // Some factories answer with a record that begins with another word.
      return answers.some((answer) => [0, 1].some((word) => readAddress(answer, word) === candidate.address));
    });
    const pools = new Set(proven.map(({ candidate }) => candidate));
    for (const candidate of candidates) {
      if (pools.has(candidate)) continue;
      if (unsure.has(candidate)) this.strangers.postpone(candidate.address, block.number);
      else this.strangers.add(candidate.address);
    }
    return this.readStates(await withDetails(rpc, proven, block, false, signal), signal);
  }

  /**
   * Reads the state of each pool at the end of the block before its first log. The state is empty if no node has it.
   */
  private async readStates(proven: readonly Claim[], signal?: AbortSignal): Promise<PlacedFinding[]> {
    const states = await askContracts(
      this.deps.rpc,
      // The first Sync of a pool has its reserves. So the node is asked only for pools without Sync, and for pools whose
      // fee another event changes.
      proven.map(({ creation, protocol }) =>
        protocol.hasSync && protocol.feeChange === null ? [] : protocol.stateCalls(creation),
      ),
      {
        at: (index) => numberToHex(Math.max(0, (proven[index]?.candidate.blockNumber ?? 0) - 1)),
        missing: 'null',
        signal,
      },
    );
    return proven.map(({ candidate, creation, dex, protocol }, index) => {
      const baseIsToken0 = this.deps.baseIsToken0(creation.token0, creation.token1);
      const state = protocol.readState(states[index]?.answers ?? []);
      const feePips = state?.fees === undefined ? creation.feePips : Math.max(...state.fees);
      const pool = { ...toPool(protocol, dex, { ...creation, feePips }), baseIsToken0 };
      this.deps.log.info(
        { pool: pool.address, dex: dex.name },
        'discovered a pool older than the first block',
      );
      return {
        fromBlock: candidate.blockNumber,
        pool,
        state: state ?? EMPTY_STATE,
        ord: candidate.ord,
        createdTx: null,
      };
    });
  }
}
