/**
 * Finds the contracts of new head blocks whose code must be read and stored. The blocks come from the memory of the
 * ingester's process, and so does the stored code of most contracts. So a block of known contracts needs no statement,
 * and a block with other contracts needs one.
 */
import { LRUCache } from 'lru-cache';

import type { EthCalls } from '../node/calls/askContracts';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { address } from '../clickhouse/rows/columns';
import { rowType } from '../clickhouse/rows/rowType';
import type { Hex } from '../domain/hex';
import { toOrd } from '../domain/ord';
import { isSameCode, listSpans } from '../query/contracts/codeSpans';
import { toCode, type ContractCode } from '../query/contracts/contractFacts';
import { inChunks } from '../query/head/inChunks';
import { readContractCodes } from './readContractCode';

/** Number of contracts whose stored code is remembered. */
const REMEMBERED_MAX = 20_000;
/** Largest number of contracts of new blocks that wait, or that one read of the head tables returns. */
const CONTRACTS_MAX = 2_000;
/** Number of blocks whose contracts are read from the head tables, after a start or a failure. */
const HEAD_BLOCKS = 64;
/** Largest number of blocks at which the code of one contract is read. */
const BLOCKS_PER_CONTRACT = 16;

const contractRow = rowType({ address });

interface ActiveDeps {
  readonly runner: QueryRunner;
  readonly rpc: EthCalls;
  readonly chainId: number;
  /** Newest block in the head tables. */
  readonly indexed: number;
  readonly finalTo: number;
}

/** The contracts of new blocks: without stored code, and with a code that may have changed. */
interface Active {
  readonly added: readonly Hex[];
  readonly changed: readonly Hex[];
}

export class ActiveContracts {
  /** New blocks with a log or the creation of each contract; null if blocks may be missing. */
  private blocksByContract: Map<Hex, Set<number>> | null = null;
  /** The stored code of contracts; null for no code. */
  private readonly storedCodes = new LRUCache<Hex, { readonly code: ContractCode | null | 'fixed' }>({
    max: REMEMBERED_MAX,
  });

  /** Notes contracts with a log or their creation in a block that is now in the head tables. */
  note(block: number, contracts: Iterable<{ readonly address: Hex }>): void {
    if (this.blocksByContract === null) return;
    for (const { address } of contracts) {
      const blocks = this.blocksByContract.get(address);
      if (blocks === undefined) this.blocksByContract.set(address, new Set([block]));
      else blocks.add(block);
    }
    if (this.blocksByContract.size > CONTRACTS_MAX) this.forget();
  }

  /** After a failure: the next `take` reads the head tables. */
  forget(): void {
    this.blocksByContract = null;
    this.storedCodes.clear();
  }

  /** Remembers a code that is stored and whose first block is final. */
  remember(address: Hex, code: ContractCode | null): void {
    this.storedCodes.set(address, { code: code?.fixed === true ? 'fixed' : code });
  }

  /** Takes the contracts of the blocks since the last call. If it rejects, the caller must call `forget`. */
  async take({ runner, rpc, chainId, indexed, finalTo }: ActiveDeps, signal: AbortSignal): Promise<Active> {
    const takenBlocks = this.blocksByContract;
    this.blocksByContract = new Map();
    const headParams = {
      chain_id: chainId,
      from_ord: toOrd(Math.max(0, indexed - HEAD_BLOCKS), 0),
      limit: CONTRACTS_MAX,
    };
    const addresses =
      takenBlocks === null
        ? (await runner.run('contracts/list_head_contracts', headParams, contractRow)).map(
            (row) => row.address,
          )
        : [...takenBlocks.keys()];
    const unknown = addresses.filter((address) => !this.storedCodes.has(address));
    const stored = await inChunks(unknown, async (chunk) => [
      ...(await listSpans({ runner }, indexed, chunk, { withLoneCodes: false })),
    ]);
    const changed = new Set<Hex>();
    for (const [address, spans] of stored) {
      const lastSpan = spans.at(-1);
      // The head tables do not tell in which of their blocks the code was compared, so it is read again.
      const isFinal = takenBlocks !== null && lastSpan !== undefined && lastSpan.from <= finalTo;
      if (lastSpan?.code?.fixed === true || isFinal) this.remember(address, lastSpan.code);
      else changed.add(address);
    }
    const questions = addresses.flatMap((address) => {
      const code = this.storedCodes.get(address)?.code;
      if (code === undefined || code === 'fixed') return [];
      const blocks = [...(takenBlocks?.get(address) ?? [])].slice(-BLOCKS_PER_CONTRACT);
      return blocks.map((block) => ({ address, block, code }));
    });
    const answers = await inChunks(questions, (chunk) => readContractCodes(rpc, chunk, signal));
    for (const [index, { address, code }] of questions.entries()) {
      const answer = answers[index] ?? null;
      if (answer === null || !isSameCode(toCode(answer), code)) changed.add(address);
    }
    const storedAddresses = new Set(stored.map(([address]) => address));
    return {
      added: unknown.filter((address) => !storedAddresses.has(address)),
      changed: [...changed],
    };
  }
}
