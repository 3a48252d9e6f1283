/**
 * Finds new pools of many tokens in blocks, before the blocks are decoded. Asks the node for what the creation of a pool
 * does not tell, and for pools older than the first stored block also for their tokens and their state. A pool without
 * usable answers is ignored. After a node failure the search is retried.
 */
import type { ChainBlock, ChainLog } from '../../domain/block';
import type { ContractCall } from '../../domain/contractCall';
import { numberToHex, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import type { Dex } from '../../domain/pool';
import type { PoolType } from '../../domain/pools/poolShape';
import { toFeePips } from '../../domain/swapFee';
import type { Logger } from '../../log';
import { askContracts, askSince, type BlockTag, type EthCalls } from '../../node/calls/askContracts';
import { emptyManyTokenState, pickDefaultLeg } from '../../protocols/manyTokenPool';
import type { ManyTokenCreation, ManyTokenProtocol, ManyTokenState } from '../../protocols/manyTokenProtocol';
import { getManyTokenProtocol } from '../../protocols/registry';
import type { Finding, PlacedFinding } from './finding';
import type { ManyTokenPool, PoolRegistry } from './poolRegistry';
import { Strangers } from './strangers';

interface ManyTokenDiscoveryDeps {
  readonly rpc: EthCalls;
  /** DEXes whose pools have many tokens. */
  readonly dexes: readonly Dex[];
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  /**
   * Ranks a token as quote token. The rank decides whether token0 is the base token, as domain/pools/orientPool.ts
   * defines.
   */
  readonly quoteRank: (token: Hex) => number;
  readonly log: Logger;
}

/** A pool of a DEX, by its id. */
interface NamedPool {
  readonly dex: Dex;
  readonly poolId: Hex;
}

/** A pool whose values must be read from the node before the block is decoded. */
interface Candidate extends NamedPool {
  readonly protocol: ManyTokenProtocol;
  readonly block: Pick<ChainBlock, 'number' | 'hash' | 'parentHash'>;
  /** The first log about the pool. */
  readonly log: Pick<ChainLog, 'logIndex' | 'transactionHash'>;
  /** The pool at its creation. Null if the pool is older than the first block, or already known. */
  readonly created: ManyTokenCreation | null;
  readonly known: ManyTokenPool | null;
}

interface ListedPool extends ManyTokenPool {
  readonly candidate: Candidate;
}

/** A log of a pool of a DEX: its own, or one of its factory or vault. */
interface PoolLog extends NamedPool {
  readonly protocol: ManyTokenProtocol;
  readonly block: ChainBlock;
  readonly log: ChainLog;
  readonly isCreation: boolean;
}

type AskFacts = (calls: readonly (readonly ContractCall[])[]) => ReturnType<typeof askContracts>;

export class ManyTokenDiscovery {
  /** Pool ids of no usable pool, and ids whose values could not be read. */
  private readonly strangers = new Strangers();
  private readonly sources: readonly { readonly dex: Dex; readonly protocol: ManyTokenProtocol }[];

  constructor(private readonly deps: ManyTokenDiscoveryDeps) {
    this.sources = deps.dexes.map((dex) => ({ dex, protocol: getManyTokenProtocol(dex.protocol) }));
  }

  /**
   * Returns what is needed before these consecutive blocks are decoded: new pools, and for known pools the parts of their
   * states that were missing. A new pool has the position of its creation, or of its first log. `reversible` means that a
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
    if (last === undefined || this.sources.length === 0) return [];
    const logs = blocks.flatMap((block) => this.listLogs(block));
    const found = await this.read(this.listCandidates(logs, registry), last, reversible, signal);
    return [...found, ...(await this.readRates(logs, registry, found, reversible, signal))];
  }

  /** Reads what changes without an event, at the end of each block with an event of such a pool. */
  private async readRates(
    logs: readonly PoolLog[],
    registry: PoolRegistry,
    found: readonly PlacedFinding[],
    reversible: boolean,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const fresh = new Map(
      found.flatMap(({ pool, state }): [Hex, ManyTokenPool][] =>
        'poolId' in state ? [[pool.address, { pool, state }]] : [],
      ),
    );
    const rated = logs.flatMap(({ protocol, poolId, dex, block }) => {
      const address = protocol.poolOfId(poolId);
      const known = fresh.get(address) ?? registry.findManyTokenPool(address);
      if (protocol.rateCalls === undefined || known?.pool.dex !== dex.name) return [];
      const calls = protocol.rateCalls(dex.factory, known.state);
      return calls.length === 0 ? [] : [{ key: `${block.number} ${address}`, block, ...known, calls }];
    });
    const asked = [...new Map(rated.map((one) => [one.key, one])).values()];
    const answers = await askContracts(
      this.deps.rpc,
      asked.map(({ calls }) => calls),
      {
        at: (index) => blockTag(asked[index]?.block, reversible),
        missing: 'null',
        reversibleTo: reversible ? newestOf(asked.map(({ block }) => block)) : undefined,
        signal,
      },
    );
    return asked.map(({ block, pool, state }, index) => {
      const place = { fromBlock: block.number, ord: toOrd(block.number, 0), createdTx: null };
      return { pool, state, ...place, rates: answers[index]?.answers ?? [] };
    });
  }

  /**
   * Reads pools that are older than the first block, at the end of the block `at`. The fee is that of a final block if
   * its event does not make the pool known: a reorg could change the fee unnoticed.
   */
  async readOlder(
    pools: readonly NamedPool[],
    at: Pick<ChainBlock, 'number' | 'hash'> & { readonly finalHash: Hex },
    signal?: AbortSignal,
  ): Promise<Finding[]> {
    if (pools.length === 0) return [];
    const next = { number: at.number + 1, hash: at.hash, parentHash: at.hash };
    const candidates = pools.map(({ dex, poolId }, logIndex): Candidate => {
      const protocol = getManyTokenProtocol(dex.protocol);
      const log = { logIndex, transactionHash: at.hash };
      return { dex, poolId, protocol, block: next, log, created: null, known: null };
    });
    const listed = await this.read(
      candidates.filter(({ poolId }) => !this.strangers.isQuiet(poolId, next.number)),
      next,
      true,
      signal,
    );
    const protocols = listed.map(({ pool }) => getManyTokenProtocol(pool.protocol));
    const fees = await askContracts(
      this.deps.rpc,
      listed.map(({ pool }, index) => [protocols[index]?.feeCall(pool.address) ?? []].flat()),
      { at: { blockHash: at.finalHash }, missing: 'null', signal },
    );
    return listed.map(({ fromBlock, pool, state }, index) => {
      const fee = protocols[index]?.readFee(fees[index]?.answers[0] ?? null) ?? null;
      return { fromBlock, pool: fee === null ? pool : { ...pool, feePips: toFeePips(fee) }, state };
    });
  }

  private async read(
    candidates: readonly Candidate[],
    last: Pick<ChainBlock, 'number' | 'hash'>,
    reversible: boolean,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
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
    const open = [
      ...listed,
      ...candidates.flatMap((candidate) =>
        candidate.known === null ? [] : [{ candidate, ...candidate.known }],
      ),
    ];
    return this.readBooks(open, reversible, signal);
  }

  private listLogs(block: ChainBlock): PoolLog[] {
    const listed: PoolLog[] = [];
    for (const log of block.logs) {
      const topic = log.topics[0];
      if (topic === undefined) continue;
      // Called for every log. There are few DEXes, so comparing with each is faster than a set.
      for (const { dex, protocol } of this.sources) {
        const isOfFactory = dex.factory === log.address && protocol.factoryTopics.has(topic);
        if (!isOfFactory && !protocol.poolTopics.has(topic)) continue;
        const poolId = isOfFactory ? protocol.idOfLog(log, block.logs) : protocol.idOfPool(log.address);
        const isCreation = isOfFactory && protocol.creationTopics.has(topic);
        if (poolId !== null) listed.push({ dex, protocol, poolId, block, log, isCreation });
      }
    }
    return listed;
  }

  private listCandidates(logs: readonly PoolLog[], registry: PoolRegistry): Candidate[] {
    const candidates = new Map<string, Candidate>();
    for (const each of logs) {
      const { dex, protocol, poolId, isCreation } = each;
      const key = `${dex.name} ${poolId}`;
      if (candidates.has(key) && !isCreation) continue;
      const known = registry.findManyTokenPool(protocol.poolOfId(poolId)) ?? null;
      const candidate = this.toCandidate(each, known);
      if (candidate === null) continue;
      // Contracts may emit events about a pool before the creation event.
      if (candidate.created !== null || !candidates.has(key)) candidates.set(key, candidate);
    }
    return [...candidates.values()];
  }

  /** Returns null if this log needs no answer of the node. */
  private toCandidate(
    { dex, protocol, poolId, block, log, isCreation }: PoolLog,
    known: ManyTokenPool | null,
  ): Candidate | null {
    const named = { dex, protocol, poolId, block, log, known };
    const isQuiet = this.strangers.isQuiet(poolId, block.number);
    if (known !== null) {
      const isSame = known.state.poolId === poolId && known.pool.dex === dex.name;
      return isSame && protocol.lacksBooks(known.state) && !isQuiet ? { ...named, created: null } : null;
    }
    if (!isCreation) return isQuiet ? null : { ...named, created: null };
    // Some registrations have no tokens yet, or are of an older pool. The pool is added at a later event.
    const created = protocol.readCreation(log, block.logs);
    if (created === null) this.strangers.forget(poolId);
    return created === null ? null : { ...named, created };
  }

  /**
   * Returns the pools to add, complete except for their books. Adds the ids of pools with malformed answers to `unsure`:
   * without all their facts, they could get false prices.
   */
  private async list(
    candidates: readonly Candidate[],
    ask: AskFacts,
    unsure: Set<Hex>,
  ): Promise<ListedPool[]> {
    const older = candidates.filter(({ created }) => created === null);
    const lists = await ask(
      older.map(({ dex, protocol, poolId }) => protocol.tokenCalls(dex.factory, poolId)),
    );
    const states = new Map<Candidate, ManyTokenState>();
    older.forEach((candidate, index) => {
      const { answers = [], isUnsure = false } = lists[index] ?? {};
      const tokens = candidate.protocol.readTokens(answers) ?? [];
      states.set(candidate, { ...emptyManyTokenState(candidate.poolId), tokens });
      if (isUnsure) unsure.add(candidate.poolId);
    });
    const begun = candidates.map((candidate) => ({
      candidate,
      state: candidate.created?.state ?? states.get(candidate) ?? emptyManyTokenState(candidate.poolId),
    }));
    const answers = await ask(
      begun.map(({ candidate: { dex, protocol }, state }) => protocol.factCalls(dex.factory, state)),
    );
    return begun.flatMap(({ candidate, state }, index) => {
      const { dex, protocol, poolId } = candidate;
      const { answers: mine = [], isUnsure = false } = answers[index] ?? {};
      if (isUnsure) unsure.add(poolId);
      if (unsure.has(poolId)) return [];
      const facts = protocol.withFacts(state, mine, dex.factory);
      const pool = facts && this.toPool(dex, protocol, facts.state, facts.poolType);
      return facts === null || pool === null ? [] : [{ candidate, pool, state: facts.state }];
    });
  }

  private toPool(
    dex: Dex,
    protocol: ManyTokenProtocol,
    state: ManyTokenState,
    poolType: PoolType,
  ): ManyTokenPool['pool'] | null {
    const address = protocol.poolOfId(state.poolId);
    const leg = pickDefaultLeg(state, address, this.deps.quoteRank);
    const token0 = state.tokens[leg?.first ?? -1];
    const token1 = state.tokens[leg?.second ?? -1];
    if (token0 === undefined || token1 === undefined) return null;
    return {
      address,
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
   * Reads the books of older pools (what changes, such as their balances) at the end of the block before their first log.
   * If the node does not have this state, the pool has no price until a later state can be read.
   */
  private async readBooks(
    open: readonly ListedPool[],
    reversible: boolean,
    signal?: AbortSignal,
  ): Promise<PlacedFinding[]> {
    const asked = open.filter(
      ({ candidate: { created, protocol } }) => created === null || protocol.readsBooksAtCreation,
    );
    const contractAnswers = await askContracts(
      this.deps.rpc,
      asked.map(({ candidate: { dex, protocol }, state }) => protocol.bookCalls(dex.factory, state)),
      {
        at: (index) => booksBlockOf(asked[index]?.candidate, reversible),
        missing: 'null',
        reversibleTo: reversible ? newestOf(asked.map(({ candidate }) => candidate.block)) : undefined,
        signal,
      },
    );
    const read = new Map(
      asked.map(({ candidate, state: { poolId } }, index) => {
        const { answers = [], isUnsure = false } = contractAnswers[index] ?? {};
        if (isUnsure) this.strangers.postpone(poolId, candidate.block.number);
        return [poolId, answers];
      }),
    );
    return open.map(({ candidate, pool, state: begun }): PlacedFinding => {
      const { protocol, block, log, created, known } = candidate;
      const answers = read.get(begun.poolId);
      const state = protocol.withBooks(begun, answers ?? [], created !== null);
      const place = {
        fromBlock: block.number,
        ord: toOrd(block.number, log.logIndex),
        createdTx: created === null ? null : log.transactionHash,
      };
      if (known !== null) return { pool, state, ...place };
      const text =
        created === null
          ? 'discovered a pool older than the first block'
          : 'a factory or vault created a pool of many tokens';
      this.deps.log.info({ pool: pool.address, dex: pool.dex, books: state.balances.length > 0 }, text);
      // Some creation events do not tell the fee.
      const createdFee = created?.swapFee ?? 0n;
      const feePips = toFeePips(createdFee > 0n ? createdFee : state.swapFee);
      return { pool: { ...pool, feePips }, state, ...place };
    });
  }
}

function blockTag(block: Pick<ChainBlock, 'number' | 'hash'> | undefined, reversible: boolean): BlockTag {
  if (block === undefined) return 'latest';
  return reversible ? { blockHash: block.hash } : numberToHex(block.number);
}

function newestOf(blocks: readonly Pick<ChainBlock, 'number'>[]): number {
  return Math.max(0, ...blocks.map(({ number }) => number));
}

/** The block at whose end the books are read: the one before the first log, or the one of the creation. */
function booksBlockOf(candidate: Candidate | undefined, reversible: boolean): BlockTag {
  if (candidate === undefined) return 'latest';
  const { block, created } = candidate;
  if (reversible) return { blockHash: created === null ? block.parentHash : block.hash };
  return numberToHex(created === null ? Math.max(0, block.number - 1) : block.number);
}
