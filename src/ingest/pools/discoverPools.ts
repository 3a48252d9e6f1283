/**
 * Discovers pools that are older than the first stored block: addresses that emit pool events without a known
 * creation event, and ids in events of a factory. A configured factory must confirm each address, because any
 * contract can emit pool events. Then the node provides the pool's state.
 */
import type { ChainBlock, ChainLog } from '../../domain/block';
import { callData, readAddress, type ContractCall } from '../../domain/contractCall';
import { numberToHex, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import { EMPTY_STATE, type Dex, type PoolState } from '../../domain/pool';
import type { Logger } from '../../log';
import { toPool, type IdQuestions, type PoolCreation, type Protocol } from '../../protocols/protocol';
import { askContracts, askSince, type EthCalls } from '../../node/calls/askContracts';
import { askByIds } from './askByIds';
import type { PlacedFinding } from './finding';
import { withDetails } from './poolDetails';
import type { PoolRegistry } from './poolRegistry';
import { Strangers } from './strangers';

/** Largest number of possible pools per batch of calls. */
const CANDIDATES_MAX = 75;

interface Source {
  readonly dex: Dex;
  readonly protocol: Protocol;
}

interface IdSource {
  readonly id: Hex;
  readonly source: Source;
  readonly questions: IdQuestions;
}

interface DiscoveryDeps {
  readonly rpc: EthCalls;
  readonly dexes: readonly Source[];
  readonly eventTopics: ReadonlySet<Hex>;
  readonly creationTopics: ReadonlySet<Hex>;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  readonly log: Logger;
}

interface Candidate {
  /** The contract, or the key of a pool without one. */
  readonly address: Hex;
  /** What an id needs; null for a contract. */
  readonly byId: IdSource | null;
  readonly ord: number;
  readonly blockNumber: number;
}

/** A pool as its contract describes it. The factory of the DEX must confirm it. */
interface Claim extends Source {
  readonly candidate: Candidate;
  readonly creation: PoolCreation;
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
      const some = candidates.slice(at, at + CANDIDATES_MAX);
      const contracts = some.filter(({ byId }) => byId === null);
      if (contracts.length > 0) discovered.push(...(await this.ask(contracts, last, signal)));
      discovered.push(...(await this.askIds(some, last, signal)));
    }
    return discovered;
  }

  private listCandidates(blocks: readonly ChainBlock[], registry: PoolRegistry): Candidate[] {
    const { eventTopics, dexes } = this.deps;
    const created = this.listCreated(blocks);
    const sources = new Map(dexes.map((source) => [source.dex.factory, source]));
    const candidates = new Map<Hex, Candidate>();
    for (const block of blocks) {
      for (const log of block.logs) {
        const topic = log.topics[0];
        if (topic === undefined || !eventTopics.has(topic)) continue;
        const source = sources.get(log.address);
        const byId = source === undefined ? null : toIdSource(source, log);
        // Other factories emit no events of pools.
        if (source !== undefined && byId === null) continue;
        const address = byId?.key ?? log.address;
        if (candidates.has(address) || created.has(address)) continue;
        if (this.strangers.isQuiet(address, block.number) || registry.findPool(address) !== undefined)
          continue;
        const ord = toOrd(block.number, log.logIndex);
        candidates.set(address, { address, byId, ord, blockNumber: block.number });
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
    return proven.map((claim, index) =>
      this.place(claim, claim.protocol.readState(states[index]?.answers ?? [])),
    );
  }

  /** Asks about the ids among the candidates. A pool that cannot be known yet is asked about again after a pause. */
  private async askIds(
    candidates: readonly Candidate[],
    block: ChainBlock,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const named = candidates.flatMap((candidate) =>
      candidate.byId === null ? [] : [{ ...candidate.byId, candidate }],
    );
    if (named.length === 0) return [];
    const asked = named.map(({ id, source: { dex }, questions, candidate: { blockNumber } }) => ({
      ...{ id, dex, questions, blockNumber },
    }));
    const answers = await askByIds(this.deps.rpc, asked, block, signal);
    return named.flatMap(({ candidate, source }, index) => {
      const { found = null, isHopeless = true } = answers[index] ?? {};
      if (found !== null)
        return [this.place({ ...source, candidate, creation: found.creation }, found.state)];
      if (isHopeless) this.strangers.add(candidate.address);
      else this.strangers.postpone(candidate.address, block.number);
      return [];
    });
  }

  /** The finding of a pool. Its state is null if no node has it. */
  private place({ candidate, creation, dex, protocol }: Claim, state: PoolState | null): PlacedFinding {
    const baseIsToken0 = this.deps.baseIsToken0(creation.token0, creation.token1);
    const feePips = state?.fees === undefined ? creation.feePips : Math.max(...state.fees);
    const pool = { ...toPool(protocol, dex, { ...creation, feePips }), baseIsToken0 };
    this.deps.log.info({ pool: pool.address, dex: dex.name }, 'discovered a pool older than the first block');
    return {
      fromBlock: candidate.blockNumber,
      pool,
      state: state ?? EMPTY_STATE,
      ord: candidate.ord,
      createdTx: null,
    };
  }
}

/** The id in an event of a factory whose pools have no contracts. Null for another factory. */
function toIdSource(source: Source, log: ChainLog): (IdSource & { readonly key: Hex }) | null {
  const { poolOf, idQuestions: questions } = source.protocol;
  const id = log.topics[1];
  if (poolOf === undefined || questions === undefined || id === undefined) return null;
  return { id, key: poolOf(log), source, questions };
}
