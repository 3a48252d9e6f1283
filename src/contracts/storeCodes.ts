/**
 * Reads the code of contracts and stores it: the present state, and the blocks of its changes. The code may have been
 * replaced before the first read. So the first read also covers the block of the contract's first log and, if the code
 * can change and the contract has few logs, the blocks of some other logs.
 */
import type { EthCalls } from '../node/calls/askContracts';
import type { Database } from '../clickhouse/client/database';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { address, bool, u32 } from '../clickhouse/rows/columns';
import { insertRows } from '../clickhouse/rows/inserter';
import { rowType } from '../clickhouse/rows/rowType';
import { codeSpansTable, contractCodesTable } from '../clickhouse/schema/explorerTables';
import type { Hex } from '../domain/hex';
import { blockOfOrd } from '../domain/ord';
import { isSameCode, listSpans } from '../query/contracts/codeSpans';
import { toCode, type ContractCode } from '../query/contracts/contractFacts';
import { finalSnapshot } from '../query/head/headSnapshot';
import { readEmitted, type Emitted } from '../query/logs/emitters';
import { readContractCodes, type FoundCode } from './readContractCode';
import { traceCodes, type TraceQuestion } from './traceCodes';

/** Largest number of blocks with logs at which the code of one contract is read. */
const BLOCKS_PER_CONTRACT = 16;
/** Largest number of logs of a contract whose code is also read at other logs than its first one. */
const FEW_LOGS_MAX = 10_000;

const blockRow = rowType({ address, block: u32 });
/** Row of the query contracts/list_codes. */
export const storedCodeRow = rowType({ address, checked_block: u32, fixed: bool });

interface StoreDeps {
  readonly database: Database;
  readonly runner: QueryRunner;
  readonly rpc: EthCalls;
  readonly chainId: number;
  /** The newest block in the head tables. */
  readonly indexed: number;
  readonly finalTo: number;
  /** False while the node has no older state. */
  readonly looksBack: boolean;
  /** Version of the stored rows: unix time in ms. */
  readonly rowVersionMs: number;
}

interface StoredCodes {
  /** Whether the node had no older state. */
  readonly hasNoOldStates: boolean;
  /** Contracts for which the node gave no answer. */
  readonly unanswered: readonly Hex[];
  /** The codes of contracts that cannot change, or that are stored with a final first block. Null for no code. */
  readonly settled: ReadonlyMap<Hex, ContractCode | null>;
}

/** At most 1,000 addresses. */
export async function storeCodes(
  deps: StoreDeps,
  addresses: readonly Hex[],
  signal: AbortSignal,
): Promise<StoredCodes> {
  const { database, runner, rpc, indexed, finalTo, rowVersionMs } = deps;
  const codeQuestions = addresses.map((address) => ({ address, block: 'latest' as const }));
  const codes = (await readContractCodes(rpc, codeQuestions, signal)).filter((code) => code !== null);
  const foundAddresses = codes.map(({ address }) => address);
  const [spans, checks] = await Promise.all([
    listSpans({ runner }, indexed, foundAddresses, { withLoneCodes: false }),
    runner.run(
      'contracts/list_codes',
      { addresses: withoutPrefix(foundAddresses), limit: foundAddresses.length },
      storedCodeRow,
    ),
  ]);
  const checkedBlockByContract = new Map(checks.map((row) => [row.address, row.checked_block]));
  const olderBlocksByContract = deps.looksBack
    ? await listBlocks(deps, codes, spans, checkedBlockByContract)
    : new Map<Hex, number[]>();
  const questions = codes.flatMap((newestCode): TraceQuestion[] => {
    const ownSpans = spans.get(newestCode.address) ?? [];
    const lastSpan = ownSpans.at(-1);
    const olderBlocks = olderBlocksByContract.get(newestCode.address) ?? [];
    if (lastSpan !== undefined && olderBlocks.length === 0 && isSameCode(lastSpan.code, toCode(newestCode)))
      return [];
    return [
      {
        newestCode,
        spans: ownSpans,
        lastCheckedBlock: checkedBlockByContract.get(newestCode.address) ?? null,
        blocks: olderBlocks,
      },
    ];
  });
  const tracedCodes = await traceCodes(rpc, questions, indexed, finalTo, signal);
  await insertRows(
    database,
    codeSpansTable,
    tracedCodes.spans.map((span) => ({ ...span, version: rowVersionMs })),
  );
  await insertRows(
    database,
    contractCodesTable,
    codes.map((code) => ({ ...code, checked_block: indexed, version: rowVersionMs })),
  );
  const tracedSpans = new Map(tracedCodes.spans.map((span) => [span.address, span]));
  const settled = codes.flatMap((row): [Hex, ContractCode | null][] => {
    const code = toCode(row);
    const storedSpan = spans.get(row.address)?.at(-1);
    const tracedSpan = tracedSpans.get(row.address);
    const lastCode = tracedSpan === undefined ? storedSpan?.code : toCode(tracedSpan);
    const from = Math.max(storedSpan?.from ?? 0, tracedSpan?.from_block ?? 0);
    const isFinal = lastCode !== undefined && from <= finalTo && isSameCode(lastCode, code);
    return row.fixed || isFinal ? [[row.address, code]] : [];
  });
  const answered = new Set(foundAddresses);
  return {
    hasNoOldStates: tracedCodes.hasNoOldStates,
    unanswered: addresses.filter((address) => !answered.has(address)),
    settled: new Map(settled),
  };
}

/** The older blocks at which the code of each contract is read: of its first log, and of some other logs. */
async function listBlocks(
  { runner, chainId, finalTo }: StoreDeps,
  codes: readonly FoundCode[],
  spans: ReadonlyMap<Hex, unknown>,
  checkedBlocks: ReadonlyMap<Hex, number>,
): Promise<Map<Hex, number[]>> {
  const contractsWithoutSpans = codes.filter(({ address }) => !spans.has(address));
  const emittedByContract =
    contractsWithoutSpans.length === 0
      ? new Map<Hex, Emitted>()
      : await readEmitted(
          { runner, chainId },
          finalSnapshot(finalTo),
          contractsWithoutSpans.map(({ address }) => address),
        );
  const blocks = new Map<Hex, number[]>();
  for (const [address, { firstOrd }] of emittedByContract) blocks.set(address, [blockOfOrd(firstOrd)]);
  const hasFewLogs = ({ address }: FoundCode): boolean =>
    (emittedByContract.get(address)?.logs ?? 0) <= FEW_LOGS_MAX;
  const addLogBlocks = async (someCodes: readonly FoundCode[], onlyFinal: boolean): Promise<void> => {
    if (someCodes.length === 0) return;
    const sinceBlocks = someCodes.map(({ address }) => checkedBlocks.get(address) ?? 0);
    const params = {
      chain_id: chainId,
      addresses: withoutPrefix(someCodes.map(({ address }) => address)),
      from_block: Math.min(...sinceBlocks),
      final: onlyFinal,
      each: BLOCKS_PER_CONTRACT,
      limit: BLOCKS_PER_CONTRACT * someCodes.length,
    };
    for (const { address, block } of await runner.run('contracts/list_log_blocks', params, blockRow))
      if (block > (checkedBlocks.get(address) ?? 0) || onlyFinal)
        blocks.set(address, [...(blocks.get(address) ?? []), block]);
  };
  const changeableCodes = codes.filter(({ fixed }) => !fixed);
  await addLogBlocks(
    changeableCodes.filter((code) => !spans.has(code.address) && hasFewLogs(code)),
    true,
  );
  await addLogBlocks(
    changeableCodes.filter(({ address }) => spans.has(address)),
    false,
  );
  return blocks;
}

const withoutPrefix = (addresses: readonly Hex[]): string[] => addresses.map((address) => address.slice(2));
