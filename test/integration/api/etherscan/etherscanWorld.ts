/** The explorer's world: a small chain with token transfers and two verified contracts, behind every dialect. */
import { Interface } from 'ethers';

import type { Database } from '../../../../src/clickhouse/client/database';
import { contractCodesTable, type ContractCodeRow } from '../../../../src/clickhouse/schema/explorerTables';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import { createQueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import type { LogRow } from '../../../../src/clickhouse/schema/tables';
import type { ExplorerDeps } from '../../../../src/api/explorerScope';
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { blockOfOrd, logIndexOfOrd, toOrd } from '../../../../src/domain/ord';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createVerifiedReader } from '../../../../src/query/contracts/verifiedContracts';
import { createVerifiedStore } from '../../../../src/contracts/storeVerified';
import { NO_DEPLOYMENT, type VerifiedRecord } from '../../../../src/contracts/verifiedRecord';
import { openTestStore } from '../../../support/engine/testStore';
import {
  explorerDeps,
  startExplorer,
  type ExplorerAnswer,
  type ExplorerServer,
} from '../explorer/explorerServer';
import {
  FIRST_LOG_BLOCK,
  gasUsedBy,
  LOG_CHAIN_ID,
  logSnapshot,
  makeLogBlocks,
  storeLogBlocks,
  wordOf,
  type LogBlock,
} from '../explorer/logWorld';
import { hexOf } from '../../../support/worlds/worldEvents';
import { logRow } from '../../../support/worlds/logRow';

export const BLOCKS = 60;
export const STORED_TO = FIRST_LOG_BLOCK + 40;
/** First block in the head tables. The final tables hold the blocks from this one to `STORED_TO` too. */
export const HEAD_FROM = STORED_TO - 4;
export const TIP = FIRST_LOG_BLOCK + BLOCKS - 1;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
export const BOXES = new Interface([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);
export const TOKEN = hexOf('e7', 1, 40);
export const NFT = hexOf('e7', 2, 40);
export const BOX = hexOf('e7', 3, 40);
export const SINGLE = hexOf('5e', 1, 40);
export const MULTI = hexOf('5e', 2, 40);
export const NOBODY = hexOf('ab', 1, 40);

export const PROXY = hexOf('9c', 1, 40);
const PROXY_CODE: ContractCodeRow = {
  address: PROXY,
  checked_block: TIP,
  code_hash: hexOf('c0', 1, 64),
  code_size: 45,
  proxy: 'eip1167',
  implementation: SINGLE,
  beacon: ZERO_ADDRESS,
  facets: '',
  fixed: true,
  version: 1,
};

export interface DialectWorld {
  /**
   * A row version above all others, for rows that a test adds. The API shows added rows of final blocks
   * immediately.
   */
  readonly database: Database;
  readonly blocks: readonly LogBlock[];
  readonly head: HeadSnapshot;
  readonly deps: ExplorerDeps;
  readonly api: ExplorerServer;
  ask(query: Record<string, string>): Promise<ExplorerAnswer>;
  resultOf(query: Record<string, string>): Promise<unknown>;
  close(): Promise<void>;
}

export const notOk = (text: string) => ({ status: '0', message: 'NOTOK', result: text });

export const topicsOf = (row: LogRow): string[] =>
  [row.topic0, row.topic1, row.topic2, row.topic3].slice(0, row.topic_count).map((topic) => topic!);

export const hexNumber = (value: number | bigint): string => `0x${value.toString(16)}`;

/** The log in the format of getLogs. */
export function entryOf(blocks: readonly LogBlock[], row: LogRow) {
  const block = blocks[blockOfOrd(row.ord) - FIRST_LOG_BLOCK]!;
  const price = block.gasPrices[row.tx_index];
  return {
    address: row.address,
    topics: topicsOf(row),
    data: row.data,
    blockNumber: hexNumber(block.number),
    blockHash: block.hash,
    timeStamp: hexNumber(block.timestamp),
    gasPrice: price === undefined ? '0x' : hexNumber(price),
    gasUsed: price === undefined ? '0x' : hexNumber(gasUsedBy(block.number, row.tx_index)),
    logIndex: hexNumber(logIndexOfOrd(row.ord)),
    transactionHash: row.tx_hash,
    transactionIndex: hexNumber(row.tx_index),
  };
}

/** The fields that the lists of transfers share, for a log that moved something from one address to another. */
export function movedItem(blocks: readonly LogBlock[], row: LogRow, from: string, to: string) {
  const block = blocks[blockOfOrd(row.ord) - FIRST_LOG_BLOCK]!;
  const price = block.gasPrices[row.tx_index];
  return {
    blockNumber: String(block.number),
    timeStamp: String(block.timestamp),
    hash: row.tx_hash,
    nonce: '',
    blockHash: block.hash,
    from,
    contractAddress: row.address,
    to,
    tokenName: '',
    tokenSymbol: '',
    transactionIndex: String(row.tx_index),
    gas: '',
    gasPrice: String(price ?? ''),
    gasUsed: price === undefined ? '' : String(gasUsedBy(block.number, row.tx_index)),
    cumulativeGasUsed: '',
    input: 'deprecated',
    confirmations: String(TIP - block.number),
  };
}

function recordOf(address: Hex, sources: VerifiedRecord['sources'], optimization: boolean): VerifiedRecord {
  return {
    contract: {
      chainId: LOG_CHAIN_ID,
      address,
      status: 'exact_match',
      source: 'sourcify',
      verifiedAt: 1_700_000_000,
      name: 'Vault',
      path: sources[0]!.path,
      language: 'Solidity',
      compiler: 'solc',
      compilerVersion: '0.8.20+commit.a1b79de6',
      optimization,
      runs: 200,
      evmVersion: optimization ? 'paris' : null,
      license: optimization ? 'MIT' : null,
      abi: [{ type: 'event', name: 'Moved', inputs: [{ name: 'to', type: 'address', indexed: true }] }],
      constructorArguments: optimization ? `0x${'00'.repeat(31)}01` : null,
      libraries: optimization ? { 'a/Math.sol:Math': NOBODY } : {},
      creationMatch: null,
      settings: JSON.stringify({ optimizer: { enabled: optimization, runs: 200 } }),
    },
    codeHash: null,
    deployment: NO_DEPLOYMENT,
    sources,
  };
}

export const single = recordOf(
  SINGLE,
  [{ path: 'Vault.sol', content: 'contract Vault { /* "x" */ }' }],
  false,
);
export const multi = recordOf(
  MULTI,
  [
    { path: 'a/Vault.sol', content: 'import "./Math.sol"; contract Vault {}' },
    { path: 'a/Math.sol', content: 'library Math {}' },
  ],
  true,
);

function transferOf(block: LogBlock, index: number): LogRow {
  return logRow({
    ord: toOrd(block.number, 900),
    timestamp: block.timestamp,
    address: TOKEN,
    topics: [TRANSFER, wordOf(index % 3), wordOf(1 + (index % 2))],
    data: hexOf('00', 1_000 + index, 64),
    tx_hash: hexOf('7e', block.number, 64),
    tx_index: 9,
  });
}

/** The kind of move depends on the parity of the block: an ERC-721 move, or an ERC-1155 move of one or
 * several ids. */
function nftMovesOf(block: LogBlock, index: number): LogRow[] {
  const sides = [wordOf(index % 3), wordOf(1 + (index % 2))];
  const [from, to] = sides.map((word) => `0x${word.slice(26)}`);
  const common = { timestamp: block.timestamp, tx_hash: hexOf('7e', block.number, 64), tx_index: 9 };
  const { data, topics } =
    index % 2 === 0
      ? BOXES.encodeEventLog('TransferSingle', [NOBODY, from, to, index, index * 10])
      : BOXES.encodeEventLog('TransferBatch', [NOBODY, from, to, [index, 7, 8], [1, index, 2n ** 200n]]);
  const nft: Hex[] = [TRANSFER, ...sides, wordOf(5_000 + index)];
  return [
    logRow({ ...common, ord: toOrd(block.number, 901), address: NFT, topics: nft }),
    logRow({
      ...common,
      ord: toOrd(block.number, 902),
      address: BOX,
      topics: topics as Hex[],
      data: data as Hex,
    }),
  ];
}

let shared: Promise<DialectWorld> | null = null;
let users = 0;

/** Opens the world once for all tests of a Jest file. Its last user closes it. */
export async function openDialectWorld(seed: number): Promise<DialectWorld> {
  users += 1;
  shared ??= storeDialectWorld(seed);
  const world = await shared;
  const close = async (): Promise<void> => {
    users -= 1;
    if (users === 0) await world.close();
  };
  return { ...world, close };
}

async function storeDialectWorld(seed: number): Promise<DialectWorld> {
  process.stdout.write(`seed ${seed}\n`);
  const store = await openTestStore();
  const { db, runner } = store;
  const blocks = makeLogBlocks(seed, BLOCKS, 10);
  blocks.forEach((block, index) => block.logs.push(transferOf(block, index), ...nftMovesOf(block, index)));
  await storeLogBlocks(db, blocks, { storedTo: STORED_TO, headFrom: HEAD_FROM, inserts: 2 });
  await insertRows(db, contractCodesTable, [PROXY_CODE]);
  await createVerifiedStore(db, createQueryRunner(db)).store([single, multi]);
  const head = logSnapshot(blocks, STORED_TO, TIP);
  const deps = explorerDeps(store, () => head, { verified: createVerifiedReader(runner) });
  const api = await startExplorer(deps, () => head);
  const ask: DialectWorld['ask'] = (query) => api.ask(`/api?${new URLSearchParams(query).toString()}`);
  return {
    database: db,
    blocks,
    head,
    deps,
    api,
    ask,
    resultOf: async (query) => (await ask(query)).json?.result,
    async close() {
      await api.close();
      await store.close();
    },
  };
}
